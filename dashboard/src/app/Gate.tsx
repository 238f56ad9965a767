/** Nobody sees a screen before he is signed in; whose session ends in the middle keeps what he typed. */
import { useState, type ReactNode } from 'react';
import { isSignedOut, useSession } from '@/api/session';
import { Failure, Loading } from '@/components/Basics';
import { Dialog } from '@/components/Dialog';
import { SignIn } from '@/screens/sign-in/SignIn';
import { t } from '@/text/text';

export function Gate({ children }: { children: ReactNode }) {
  const session = useSession();
  const [isDismissed, setDismissed] = useState(false);
  const isOut = isSignedOut(session.error);
  const usesLink = location.pathname === '/welcome' && location.hash.length > 1;
  if (usesLink || (isOut && session.data === undefined)) {
    return (
      <main className="sign-in-page">
        <SignIn />
      </main>
    );
  }
  if (session.isPending) return <Loading />;
  if (session.error && session.data === undefined && !isOut) {
    return (
      <main className="sign-in-page">
        <Failure isPage error={session.error} retry={() => void session.refetch()} />
      </main>
    );
  }
  return (
    <>
      {children}
      {isOut && !isDismissed && (
        <Dialog title={t('sign-in.ended')} close={() => setDismissed(true)}>
          <p className="muted">{t('sign-in.ended')}</p>
          <SignIn />
        </Dialog>
      )}
    </>
  );
}
