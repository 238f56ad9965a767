/** The files of an ask, read back from the server to be sent again. */
import type { PlaygroundAsk } from '@/api/documents';
import { send } from '@/api/http';
import { path } from '@/router/location';
import { readFile, type SentFile } from './request';

export async function filesOf(ask: PlaygroundAsk): Promise<readonly SentFile[]> {
  const found = await Promise.all(
    ask.view.files.map(async (file) => {
      const response = await send(path`/playground/${ask.ask_id}/files/${String(file.position)}`);
      return readFile(new File([await response.blob()], file.name, { type: file.media_type }));
    }),
  );
  return found.filter((file) => file !== null);
}
