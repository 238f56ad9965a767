// A certified identity provider on a free port of this machine. Anybody who signs in there is who he says.
// node provider.mjs REDIRECT_URI: prints its address; ends when its standard input does.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const server = createServer();
await new Promise((resolve) => server.listen(0, '127.0.0.1', resolve));
const issuer = `http://127.0.0.1:${server.address().port}`;
const provider = new Provider(issuer, {
  clients: [
    {
      client_id: 'proctor',
      client_secret: 'marked-client-secret-40172',
      redirect_uris: [process.argv[2]],
      token_endpoint_auth_method: 'client_secret_post',
    },
  ],
  claims: { openid: ['sub'], email: ['email', 'email_verified'] },
  findAccount: (_, id) => ({
    accountId: id,
    claims: () => ({ sub: id, email: `${id}@example.com`, email_verified: !id.startsWith('unverified') }),
  }),
  cookies: { keys: ['of this test only'] },
});
server.on('request', provider.callback());
process.stdin.on('end', () => process.exit(0)).resume();
console.log(`at ${issuer}`);
