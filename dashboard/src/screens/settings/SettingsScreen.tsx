/** What is wrong with the server first; then how the dashboard looks here. */
import { useQuery } from '@tanstack/react-query';
import type { ServerVersion } from '@/api/documents';
import { request } from '@/api/http';
import { useProviders } from '@/api/queries';
import { ServerState } from '@/app/ServerState';
import { Loaded, PageHead, Section, Wide } from '@/components/Basics';
import { Field, Select } from '@/components/Fields';
import { chooseLanguage, LANGUAGES, t, useLanguage, type Language } from '@/text/text';
import { chooseTheme, THEMES, useThemeChoice, type ThemeChoice } from '@/theme/theme';

export default function SettingsScreen() {
  const version = useQuery({ queryKey: ['version'], queryFn: () => request<ServerVersion>('/version') });
  const language = useLanguage();
  const theme = useThemeChoice();
  return (
    <>
      <PageHead
        trail={t('nav.settings')}
        title={t('settings.title')}
        lead={version.data && `Proctor ${version.data.version}`}
      />
      <Section title={t('settings.server')}>
        <ServerState />
      </Section>
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
      <Providers />
    </>
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
                    <td className="muted">{one.description}</td>
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
