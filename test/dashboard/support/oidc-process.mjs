// A real provider of OpenID Connect, in a process of its own: it is published as ES modules. Its parent says where it leads people back to.
import { createServer } from 'node:http';
import Provider from 'oidc-provider';

const CLIENT = { client_id: 'tollgate', client_secret: 'a-secret-of-this-client-alone' };

const findAccount = (_context, id) => ({ accountId: id, claims: () => ({ sub: id, email: id, email_verified: true }) });

let handle;
const server = createServer((request, response) => {
  if (handle) handle(request, response);
  else response.writeHead(503).end();
});
// Another site than 127.0.0.1 to a browser, as a provider is another site than the dashboard.
server.listen(0, 'localhost', () => process.send({ issuer: `http://localhost:${server.address().port}` }));

process.on('message', ({ redirectUri }) => {
  const provider = new Provider(`http://localhost:${server.address().port}`, {
    clients: [{ ...CLIENT, redirect_uris: [redirectUri] }],
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    cookies: { keys: ['for the tests alone'] },
    pkce: { required: () => true },
    findAccount,
  });
  handle = provider.callback();
  process.send({});
});
process.on('disconnect', () => process.exit());
