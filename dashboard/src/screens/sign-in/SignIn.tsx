/** The way in: a name and a password, or a new password by a one-time link. */
import { useState, type FormEvent } from 'react';
import { useSignIn, useWays } from '@/api/session';
import { Button } from '@/components/Basics';
import { Field } from '@/components/Fields';
import { t } from '@/text/text';
import './sign-in.css';

/** What stands behind the # of a one-time link; a server never sees it. */
const linkToken = () => (location.pathname === '/welcome' ? location.hash.slice(1) : '');

export function SignIn() {
  const token = linkToken();
  const signIn = useSignIn();
  const ways = useWays();
  const [name, setName] = useState('');
  const [password, setPassword] = useState('');
  const submit = (event: FormEvent) => {
    event.preventDefault();
    signIn.mutate(token ? { token, password } : { name, password }, {
      onSuccess: () => {
        if (token) globalThis.location.replace('/');
      },
    });
  };
  return (
    <form className="sign-in" onSubmit={submit}>
      <h1>{token ? t('sign-in.choose-password') : t('sign-in.title')}</h1>
      {!token && (
        <Field label={t('sign-in.name')}>
          <input
            className="input"
            autoFocus
            required
            autoComplete="username"
            value={name}
            onChange={(event) => setName(event.target.value)}
          />
        </Field>
      )}
      <Field label={t('sign-in.password')}>
        <input
          className="input"
          type="password"
          required
          autoComplete={token ? 'new-password' : 'current-password'}
          value={password}
          onChange={(event) => setPassword(event.target.value)}
        />
      </Field>
      {signIn.error && (
        <p className="mark-wrong" role="alert">
          {signIn.error.message}
        </p>
      )}
      <Button kind="main" type="submit" disabled={signIn.isPending}>
        {t('sign-in.enter')}
      </Button>
      {!token &&
        ways.data?.map((way) => (
          <a
            key={way.name}
            className="button"
            href={`${way.path}?next=${encodeURIComponent(location.pathname + location.search)}`}
          >
            {t('sign-in.with', { name: way.label })}
          </a>
        ))}
      <p className="muted small">{t('sign-in.help')}</p>
    </form>
  );
}
