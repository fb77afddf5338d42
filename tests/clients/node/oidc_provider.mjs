// A provider of OpenID Connect (oidc-provider), where the tests sign in as people do: its forms, its cookies, its rules.
// ISSUER is its address with a port, CLIENT_ID, CLIENT_SECRET, REDIRECT_URI and SIGNED_OUT_URI are the hub's, ACCOUNTS is JSON: claims by login.
import Provider from 'oidc-provider';

const accounts = JSON.parse(process.env.ACCOUNTS);
const provider = new Provider(process.env.ISSUER, {
  clients: [
    {
      client_id: process.env.CLIENT_ID,
      client_secret: process.env.CLIENT_SECRET,
      redirect_uris: [process.env.REDIRECT_URI],
      post_logout_redirect_uris: process.env.SIGNED_OUT_URI ? [process.env.SIGNED_OUT_URI] : [],
    },
  ],
  claims: {
    openid: ['sub'],
    email: ['email', 'email_verified'],
    profile: ['name'],
    groups: ['groups'],
  },
  pkce: {required: () => true},
  cookies: {keys: ['of these tests']},
  findAccount: (_context, id) => accounts[id] && {
    accountId: id,
    claims: () => ({sub: id, ...accounts[id]}),
  },
});
provider.listen(Number(new URL(process.env.ISSUER).port), '127.0.0.1');
