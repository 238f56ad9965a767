/** Who belongs to the project, its keys, and who is told of its runs. */
import { useMay, useSession } from '@/api/session';
import { ApiKeys } from './ApiKeys';
import { Budgets } from './Budgets';
import { Members } from './Members';
import { ProviderKeys } from './ProviderKeys';
import { Webhooks } from './Webhooks';

export function ProjectPart() {
  const { data: session } = useSession();
  const isOwner = useMay('project:admin');
  const project = session?.project ?? 'local';
  return (
    <>
      {session && session.csrf_token !== '' && <Members project={project} mayChange={isOwner} />}
      <Budgets />
      {isOwner && <ApiKeys />}
      <ProviderKeys mayChange={isOwner} />
      {isOwner && <Webhooks />}
    </>
  );
}
