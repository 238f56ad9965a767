import type { ReactNode } from 'react';

export function Block({ title, children }: { title: string; children: ReactNode }) {
  return (
    <section className="sample-block">
      <h2 className="muted small">{title}</h2>
      {children}
    </section>
  );
}

export function Folded({ title, children }: { title: string; children: ReactNode }) {
  return (
    <details className="sample-block">
      <summary className="muted small">{title}</summary>
      {children}
    </details>
  );
}
