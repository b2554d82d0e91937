import type { Challenge } from '../../edge/record/challenge.ts'
import { type Entry, targetUrl } from '../../edge/record/entry.ts'
import type { EntryOptions } from '../../model/exposure.ts'

/** The input of the renderer for one entry. */
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

/** Whether the host needs server blocks of its own. Otherwise it is lines in servers that all hosts share. */
export const needsBlock = ({ options, furtherTargets }: Pick<RenderedEntry, 'options' | 'furtherTargets'>): boolean =>
  options !== undefined || furtherTargets !== undefined

export const CHALLENGE_PATH = '/.well-known/acme-challenge/'
