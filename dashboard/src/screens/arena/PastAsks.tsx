/** What was asked before, newest first. */
import { useAsks } from '@/api/playground';
import { Button, Loaded, Section, Tag } from '@/components/Basics';
import { VisibleText } from '@/components/Foreign';
import { agoText } from '@/numbers/text';
import { Link } from '@/router/Link';
import { path } from '@/router/location';
import { plural, t, useLanguage } from '@/text/text';

export function PastAsks() {
  const asks = useAsks();
  const language = useLanguage();
  return (
    <Section title={t('arena.past')}>
      <Loaded query={asks}>
        {(data) => {
          const items = data.pages.flatMap((page) => page.items);
          if (items.length === 0) return <p className="muted">{t('arena.past.none')}</p>;
          return (
            <ul className="arena-past">
              {items.map((one) => (
                <li key={one.ask_id}>
                  <Link to={path`/arena/${one.ask_id}`}>
                    <bdi>
                      <VisibleText text={one.prompt || one.kind} />
                    </bdi>
                  </Link>
                  <span className="muted small">
                    <bdi>{one.models.join(', ')}</bdi> · {agoText(new Date(one.created_at), new Date(), language)}
                    {one.votes > 0 && ` · ${plural('arena.votes', one.votes)}`}
                  </span>
                  {one.is_blind && <Tag>{t('arena.blind')}</Tag>}
                </li>
              ))}
            </ul>
          );
        }}
      </Loaded>
      {asks.hasNextPage && <Button onClick={() => void asks.fetchNextPage()}>{t('action.more')}</Button>}
    </Section>
  );
}
