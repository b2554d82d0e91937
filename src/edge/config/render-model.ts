import type { EntryOptions } from '../../model/exposure.ts'
import { type Entry, targetUrl } from '../record/entry.ts'

/** An ACME http-01 challenge that an edge answers beside its service of a host. */
export interface Challenge {
  readonly token: string
  readonly answer: string
}

/** What the text of an entry is made of. */
export interface RenderedEntry {
  readonly host: string
  readonly plan: string
  /** `http://address:port`, or `https://` where the options name an authority. */
  readonly target: string
  readonly furtherTargets: readonly string[] | undefined
  readonly options: EntryOptions | undefined
  readonly tls: boolean
  readonly identity: Entry['proof'] | undefined
  readonly challenge?: Challenge | undefined
}

export function modelOf(
  { host, plan, targets, options, certificate, proof }: Entry,
  challenge?: Challenge,
): RenderedEntry {
  const [target, ...further] = targets
  return {
    ...{ host, plan, options, challenge },
    target: targetUrl(target),
    furtherTargets: further.length > 0 ? further.map(targetUrl) : undefined,
    tls: certificate !== null,
    identity: proof,
  }
}

/** Whether the host needs server blocks of its own: lines stand in servers that all hosts share. */
export const needsBlock = ({ options, furtherTargets }: Pick<RenderedEntry, 'options' | 'furtherTargets'>): boolean =>
  options !== undefined || furtherTargets !== undefined

export const CHALLENGE_PATH = '/.well-known/acme-challenge/'

const TOKEN = /^[A-Za-z0-9_-]{1,256}$/
const KEY_AUTHORIZATION = /^[A-Za-z0-9_-]{1,256}\.[A-Za-z0-9_-]{1,256}$/

export const isChallenge = ({ token, answer }: Challenge): boolean =>
  TOKEN.test(token) && KEY_AUTHORIZATION.test(answer)
