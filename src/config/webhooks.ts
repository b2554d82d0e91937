import { EVENT_TYPES, type EventType } from '../model/event.ts'
import { readSecretFile, Secret } from './secret.ts'
import type { Parse, Section } from './section.ts'
import * as value from './values.ts'

/** A receiver of events. Addresses come from here and from nowhere else. */
export interface Webhook {
  readonly name: string
  readonly url: Secret
  readonly secret: Secret
  /** Undefined: all of them. */
  readonly events: readonly EventType[] | undefined
  readonly hosts: readonly string[] | undefined
  readonly tries: number
  readonly timeoutSeconds: number
}

interface Sources {
  readonly path: Parse<string>
  readonly environment: Readonly<Record<string, string | undefined>>
}

export function readWebhooks(root: Section, sources: Sources): readonly Webhook[] {
  const section = root.section('webhooks')
  return section.keys().map((name) => {
    if (!/^[a-z0-9-]{1,32}$/.test(name))
      section.refuse(name, 'is not allowed; allowed: names of lower-case letters, digits and hyphens, 32 at most')
    return readWebhook(section.section(name), name, sources)
  })
}

function readWebhook(section: Section, name: string, sources: Sources): Webhook {
  const url = section.required('url', receiver, '', 'an http:// or https:// address without user, password or fragment')
  const all = EVENT_TYPES.join(', ')
  return {
    name,
    // Many receivers are known by nothing but their address.
    url: new Secret(url),
    secret: readSecret(section, name, sources),
    events: section.has('events') ? section.list('events', [], value.oneOf(...EVENT_TYPES), all) : undefined,
    hosts: section.has('hosts') ? section.list('hosts', [], value.dnsName, 'names of hosts') : undefined,
    tries: section.read('tries', 30, value.whole(1, 100), 'a whole number of tries, 1 to 100'),
    timeoutSeconds: section.read('timeoutSeconds', 10, value.whole(1, 60), 'whole seconds, 1 to 60'),
  }
}

const receiver: Parse<string> = (given) => {
  if (typeof given !== 'string' || !URL.canParse(given)) return undefined
  const { protocol, username, password, hash, href } = new URL(given)
  const plain = username === '' && password === '' && hash === ''
  return plain && (protocol === 'http:' || protocol === 'https:') ? href : undefined
}

function readSecret(section: Section, name: string, { path, environment }: Sources): Secret {
  const file = section.read('secretFile', undefined, path, 'the path of a file')
  const variable = `DRAWBRIDGE_WEBHOOK_${name.toUpperCase().replaceAll('-', '_')}`
  const secret = file === undefined ? new Secret(environment[variable] ?? '') : readSecretFile(file)
  if (typeof secret === 'string') section.refuse('secretFile', secret)
  else if (secret.reveal() === '')
    section.refuse('secretFile', `is missing: a file that holds the secret; or set ${variable} in the environment`)
  else if (!isSigningSecret(secret.reveal()))
    section.refuse('secretFile', `or ${variable} holds something that is not whsec_ and 24 to 64 bytes in base64`)
  return typeof secret === 'string' ? new Secret('') : secret
}

function isSigningSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)$/.exec(text) ?? []
  const { length } = Buffer.from(base64, 'base64')
  return length >= 24 && length <= 64
}
