/** Figures as every screen shows them: with n and interval, and a dash always with its reason. */
import type { ReactNode } from 'react';
import type { MetricEstimate, Rate } from '@/api/documents';
import { decimalText, figureText } from '@/numbers/rounding';
import { costText, countText, intervalText, NOT_MEASURED, secondsText, smallCostText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { t } from '@/text/text';

/** A figure that is not there; hover and focus say why. */
export function Dash({ reason }: { reason: string }) {
  return (
    <span className="dash" title={reason} tabIndex={0} role="img" aria-label={reason}>
      {NOT_MEASURED}
    </span>
  );
}

interface EstimateProps {
  estimate: MetricEstimate | Rate | undefined;
  reason?: string;
  to?: string;
  bare?: boolean;
}

/** `0.710 [0.660, 0.760] n=312`, linked to the samples behind it; every digit of the API's number is in the title. */
export function Estimate({ estimate, reason, to, bare = false }: EstimateProps) {
  if (estimate?.value === null || estimate?.value === undefined)
    return <Dash reason={reason ?? t('reason.not-measured')} />;
  const covers =
    'covers' in estimate && typeof estimate.covers === 'number' ? ` of ${figureText(estimate.covers)}` : '';
  const value: ReactNode = (
    <strong className="value" title={String(estimate.value)}>
      {decimalText(estimate.value) + covers}
    </strong>
  );
  return (
    <span className="estimate">
      {to === undefined ? value : <Link to={to}>{value}</Link>}
      {!bare && (
        <span className="muted small">
          {' '}
          {estimate.ci95 && intervalText(estimate.ci95 as [number, number])} n={countText(estimate.n)}
        </span>
      )}
    </span>
  );
}

export function Cost({ usd, basis, small = false }: { usd: number | null; basis: string | null; small?: boolean }) {
  if (usd === null) return <Dash reason={t('reason.no-price')} />;
  return (
    <span title={`${usd} USD · ${basis ?? ''}`}>
      {small ? smallCostText(usd, basis ?? undefined) : costText(usd, basis ?? undefined)}
    </span>
  );
}

export function Seconds({ value, reason }: { value: number | null | undefined; reason?: string }) {
  if (value === null || value === undefined) return <Dash reason={reason ?? t('reason.no-latency')} />;
  return <span title={`${value} s`}>{secondsText(value)}</span>;
}

export function Count({ value, reason }: { value: number | null | undefined; reason?: string }) {
  if (value === null || value === undefined) return <Dash reason={reason ?? t('reason.not-said')} />;
  return <>{countText(value)}</>;
}
