import { type StaticDecode, Type } from 'typebox'
import { EVENT_TYPES, type EventType } from '../model/event.ts'
import { requiredSecret, Secret, type SecretSources } from './secret.ts'
import * as value from './values.ts'

/** A receiver of events. Only the configuration can add receivers. */
export interface Webhook {
  readonly name: string
  readonly url: Secret
  readonly secret: Secret
  /** Undefined: all events. */
  readonly events: readonly EventType[] | undefined
  readonly hosts: readonly string[] | undefined
  readonly tries: number
  readonly timeoutSeconds: number
}

const receiverUrl = value.parsed(
  (given) => {
    const url = URL.parse(given)
    const isPlain = url?.username === '' && url.password === '' && url.hash === ''
    return url && isPlain && /^https?:$/.test(url.protocol) ? url.href : undefined
  },
  { allowed: 'an http:// or https:// address without user, password or fragment' },
)

const webhookSchema = (folder: string) =>
  Type.Object({
    url: receiverUrl,
    secretFile: Type.Optional(value.path(folder, 'the path of a file')),
    events: Type.Optional(Type.Array(value.oneOf(EVENT_TYPES))),
    hosts: Type.Optional(Type.Array(value.dnsName('names of hosts'))),
    tries: value.whole(1, 100, 30, 'a whole number of tries'),
    timeoutSeconds: value.seconds(1, 60, 10),
  })

/** Webhooks by name. */
export const webhooksSchema = (folder: string) => Type.Record(Type.String(), webhookSchema(folder), { default: {} })

type WebhookFile = StaticDecode<ReturnType<typeof webhookSchema>>

export function readWebhooks(
  webhooks: Readonly<Record<string, WebhookFile>>,
  sources: SecretSources,
): readonly Webhook[] {
  return Object.entries(webhooks).map(([name, { url, secretFile, events, hosts, tries, timeoutSeconds }]) => {
    if (!/^[a-z0-9-]{1,32}$/.test(name))
      sources.document.refuse(
        ['webhooks', name],
        'is not valid. Allowed: names of at most 32 lower-case letters, digits and hyphens.',
      )
    // Many receivers authenticate callers only by the URL, so the URL is a secret, too.
    const secret = signingSecret(name, secretFile, sources)
    return { name, url: new Secret(url), secret, events, hosts, tries, timeoutSeconds }
  })
}

const signingSecret = (name: string, file: string | undefined, sources: SecretSources): Secret =>
  requiredSecret(
    {
      place: ['webhooks', name, 'secretFile'],
      file,
      variable: `DRAWBRIDGE_WEBHOOK_${name.toUpperCase().replaceAll('-', '_')}`,
      missing: 'the path of a file with the secret',
      isValid: isSigningSecret,
      wrong: 'a value that is not whsec_ with 24 to 64 bytes in base64',
    },
    sources,
  )

function isSigningSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? []
  const { length } = Buffer.from(base64, 'base64')
  return length >= 24 && length <= 64
}
