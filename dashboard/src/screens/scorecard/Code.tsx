/** The program itself, file by file, and what of it was not taken. */
import type { ProgramCard } from '@/api/documents';
import { Section } from '@/components/Basics';
import { Foreign } from '@/components/Foreign';
import { bytesText } from '@/numbers/text';
import { t } from '@/text/text';

export function Code({ card }: { card: ProgramCard }) {
  const files = Object.entries(card.program);
  const refused = Object.entries(card.left_out);
  return (
    <Section title={t('card.code')}>
      {files.length === 0 && <p className="muted">{t('card.code.none')}</p>}
      {files.map(([name, file]) => (
        <details key={name} className="code-file">
          <summary>
            <code>{name}</code> <span className="muted small">{bytesText(file.bytes)}</span>
          </summary>
          {typeof file.text !== 'string' ? (
            <p className="muted">{t('card.not-text')}</p>
          ) : (
            <pre>
              <Foreign text={file.text} />
            </pre>
          )}
        </details>
      ))}
      {refused.length > 0 && (
        <>
          <h3>{t('card.left-out')}</h3>
          <ul>
            {refused.map(([name, reason]) => (
              <li key={name}>
                <code>{name}</code> <span className="muted">{reason}</span>
              </li>
            ))}
          </ul>
        </>
      )}
    </Section>
  );
}
