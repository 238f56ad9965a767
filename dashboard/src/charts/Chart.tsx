/** A chart with its title for those who cannot see it, and its picture and figures as files. */
import { useRef, type ReactNode } from 'react';
import { csvText, downloadText, svgText } from './files';
import { t } from '@/text/text';
import './charts.css';

interface ChartProps {
  title: string;
  className?: string;
  table: readonly (readonly (string | number | null)[])[];
  children: ReactNode;
}

export function Chart({ title, className = '', table, children }: ChartProps) {
  const frame = useRef<HTMLElement>(null);
  const file = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '-');
  const saveSvg = () => {
    const drawing = frame.current?.querySelector('svg');
    if (drawing) downloadText(`${file}.svg`, svgText(drawing, title), 'image/svg+xml');
  };
  return (
    <figure ref={frame} className={`chart ${className}`} role="group" aria-label={title}>
      {children}
      <div className="chart-tools no-print">
        <button type="button" onClick={saveSvg}>
          SVG<span className="hidden"> {title}</span>
        </button>
        <button type="button" onClick={() => downloadText(`${file}.csv`, csvText(table), 'text/csv')}>
          CSV<span className="hidden"> {title}</span>
        </button>
      </div>
      <span className="hidden">{t('chart.files')}</span>
    </figure>
  );
}
