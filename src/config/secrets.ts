import type { Config } from './config.ts'
import { Secret } from './secret.ts'

/** Every secret of the configuration. The log replaces them in all of its lines. */
export function secretsOf({ adminTokenValue, store, zones, acme, webhooks }: Config): Secret[] {
  const keys = [...zones.values()].flatMap(({ tsig, nextTsig }) => [tsig?.secret, nextTsig?.secret])
  const receivers = webhooks.flatMap(({ url, secret }) => [url, secret])
  const secrets = [adminTokenValue, acme.externalAccount?.hmacKey, acme.accountKey, ...keys, ...receivers].filter(
    (secret) => secret !== undefined,
  )
  if (store.kind === 'sqlite') return secrets
  const { password } = new URL(store.url.reveal())
  return [...secrets, store.url, new Secret(password), new Secret(decodeURIComponent(password))]
}
