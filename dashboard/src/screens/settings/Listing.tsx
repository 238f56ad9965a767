/** A list of things that are set on the server: a table, what can be done to each, and what went wrong. */
import type { ReactNode } from 'react';
import { useListed } from '@/api/administration';
import { Failure, Loaded, Section, Wide } from '@/components/Basics';
import { t } from '@/text/text';

export interface Column<Item> {
  head: string;
  cell: (item: Item) => ReactNode;
  isNumber?: boolean;
}

interface ListingProps<Item> {
  title: string;
  note?: string;
  path: string;
  keyOf: (item: Item) => string;
  columns: readonly Column<Item>[];
  error?: Error | null;
  children?: ReactNode;
}

export function Listing<Item>({ title, note, path, keyOf, columns, error, children }: ListingProps<Item>) {
  const found = useListed<Item>(path);
  return (
    <Section title={title} {...(note === undefined ? {} : { note })}>
      <Loaded query={found} lines={2}>
        {(items) =>
          items.length === 0 ? (
            <p className="muted">{t('settings.none')}</p>
          ) : (
            <Wide label={title}>
              <table>
                <thead>
                  <tr>
                    {columns.map(({ head, isNumber }, index) => (
                      <th key={index} className={isNumber ? 'number' : undefined}>
                        {head || <span className="hidden">{title}</span>}
                      </th>
                    ))}
                  </tr>
                </thead>
                <tbody>
                  {items.map((item) => (
                    <tr key={keyOf(item)}>
                      {columns.map(({ cell, isNumber }, index) => (
                        <td key={index} className={isNumber ? 'number' : undefined}>
                          {cell(item)}
                        </td>
                      ))}
                    </tr>
                  ))}
                </tbody>
              </table>
            </Wide>
          )
        }
      </Loaded>
      {children}
      {error && <Failure error={error} />}
    </Section>
  );
}

/** A secret that the server will not show again. */
export function Once({ secret }: { secret: string | null }) {
  if (secret === null) return null;
  return (
    <p className="notice" role="status">
      {t('settings.once')} <code className="secret">{secret}</code>
    </p>
  );
}
