import { isIPv6 } from 'node:net'
import { escapeText } from '../../model/escape-text.ts'
import { EdgeFault } from '../contract.ts'
import { type Directive, directivesIn } from '../reading/text/directives.ts'
import { UnreadableText } from '../reading/text/tokens.ts'
import type { EdgeSettings } from '../settings.ts'
import { runNginx } from './nginx-program.ts'

/**
 * nginx prefers a server that listens on one address to those that listen on all: ours would take every visitor of that
 * address away from an administrator's own servers. Rejects with `unavailable` before that can happen.
 */
export async function assertNoServerShadowed(settings: EdgeSettings): Promise<void> {
  const { folder, server, listen, ports } = settings
  const { output } = await runNginx(settings, '-T', settings.config)
  const taken = new Set(listen.filter(isSingle).flatMap((address) => Object.values(ports).map(everywhere(address))))
  for (const { file, text } of filesIn(output)) {
    if (file.startsWith(`${folder}/`) || !listensIn(text).some((place) => taken.has(place))) continue
    throw new EdgeFault(
      'unavailable',
      `A server in ${escapeText(file)} listens on every address, on a port of ours, and would lose its visitors: write its listen ` +
        `with an address, or set edges.${server}.listen to the address that it has.`,
    )
  }
}

const isSingle = (address: string): boolean => address !== '0.0.0.0' && address !== '::'

/** How all addresses of this address's kind are told, with a port. */
const everywhere =
  (address: string) =>
  (port: number): string =>
    `${isIPv6(address) ? '[::]' : '*'}:${port}`

/** What `nginx -T` printed, file by file. */
function filesIn(dump: string): { file: string; text: string }[] {
  const [, ...pieces] = dump.split(/^# configuration file (\/.*):$/m)
  return pieces.flatMap((file, index) => (index % 2 === 0 ? [{ file, text: pieces[index + 1] ?? '' }] : []))
}

/** Where servers in this text listen, in one spelling for all addresses: `80`, `*` and `0.0.0.0:80` are `*:80`. */
function listensIn(text: string): string[] {
  return directivesOrNone(text)
    .filter(({ name }) => name === 'listen')
    .map(({ args: [place = ''] }) =>
      place
        .replace(/^\d+$/, '*:$&')
        .replace(/^0\.0\.0\.0/, '*')
        .replace(/^\*$/, '*:80'),
    )
}

/** Other languages may be embedded in nginx's; what cannot be read was still loaded by it. */
function directivesOrNone(text: string): Directive[] {
  try {
    return directivesIn(text)
  } catch (error) {
    if (error instanceof UnreadableText) return []
    throw error
  }
}
