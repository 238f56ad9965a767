/** What is wrong with the server first; then how the dashboard looks here. */
import type { ListedWorker } from '@/api/documents';
import { useProviders } from '@/api/queries';
import { useMay } from '@/api/session';
import { ServerState } from '@/app/ServerState';
import { Ago } from '@/components/Ago';
import { Loaded, Section, Wide } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { countText } from '@/numbers/text';
import { chooseLanguage, LANGUAGES, t, useLanguage, type Language } from '@/text/text';
import { chooseTheme, THEMES, useThemeChoice, type ThemeChoice } from '@/theme/theme';
import { Listing } from './Listing';
import { Status } from './Status';

export function GeneralPart() {
  const isAdmin = useMay('admin:full');
  return (
    <>
      <Section title={t('settings.server')}>
        <ServerState />
      </Section>
      {isAdmin && <Status />}
      {isAdmin && <Workers />}
      <Appearance />
      <Providers />
    </>
  );
}

/** Those that are not heard of come first. */
function Workers() {
  return (
    <Listing<ListedWorker>
      title={t('settings.workers')}
      note={t('settings.workers.note')}
      path="/workers"
      keyOf={(one) => `${one.host} ${one.pid} ${one.name}`}
      columns={[
        { head: t('settings.name'), cell: (one) => <bdi>{one.name}</bdi> },
        { head: t('settings.worker.pools'), cell: (one) => one.pools.join(', ') },
        {
          head: t('settings.worker.doing'),
          cell: (one) =>
            one.is_alive ? (
              (one.doing ?? <span className="muted">{t('settings.worker.waits')}</span>)
            ) : (
              <span className="mark-wrong">{t('settings.worker.dead')}</span>
            ),
        },
        { head: t('settings.worker.chunks'), isNumber: true, cell: (one) => countText(one.chunks) },
        { head: t('settings.worker.seen'), isNumber: true, cell: (one) => <Ago when={one.seen_at} /> },
      ]}
    />
  );
}

function Appearance() {
  const language = useLanguage();
  const theme = useThemeChoice();
  return (
    <Section title={t('settings.look')} note={t('settings.look.note')}>
      <div className="filters">
        <Field label={t('settings.theme')}>
          <Select
            value={theme}
            change={(next) => chooseTheme(next as ThemeChoice)}
            options={THEMES.map((one) => [one, t(`theme.${one}`)])}
          />
        </Field>
        <Field label={t('settings.language')}>
          <Select
            value={language}
            change={(next) => void chooseLanguage(next as Language)}
            options={Object.entries(LANGUAGES)}
          />
        </Field>
      </div>
    </Section>
  );
}

/** Which model providers have a key here; the keys themselves are shown to nobody. */
function Providers() {
  const providers = useProviders();
  return (
    <Section title={t('settings.providers')} note={t('settings.providers.note')}>
      <Loaded query={providers}>
        {(all) => (
          <Wide label={t('settings.providers')}>
            <table>
              <thead>
                <tr>
                  <th>{t('settings.provider')}</th>
                  <th>{t('settings.what')}</th>
                  <th>{t('settings.key')}</th>
                </tr>
              </thead>
              <tbody>
                {all.map((one) => (
                  <tr key={one.provider}>
                    <td>{one.provider}</td>
                    <td className="muted prose">{one.description}</td>
                    <td>
                      {one.has_key === null
                        ? t('settings.key.none')
                        : one.has_key
                          ? t('settings.key.set')
                          : t('settings.key.missing')}
                      {one.key_variable !== null && <code className="muted small"> {one.key_variable}</code>}
                    </td>
                  </tr>
                ))}
              </tbody>
            </table>
          </Wide>
        )}
      </Loaded>
    </Section>
  );
}
