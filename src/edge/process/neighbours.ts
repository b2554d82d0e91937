import { isIPv6 } from 'node:net'
import { escapeText } from '../../model/escape-text.ts'
import { EdgeFault } from '../contract.ts'
import { directivesIn } from '../reading/text/directives.ts'
import { type Listening, parseListens } from '../reading/text/listen.ts'
import { UnreadableText } from '../reading/text/tokens.ts'
import type { EdgeSettings } from '../settings.ts'
import { runNginx } from './nginx-program.ts'

/**
 * nginx prefers a server that listens on one address to servers that listen on all addresses. Our servers would take all
 * visitors of that address from an administrator's own server. Rejects with `unavailable` before that can happen.
 */
export async function assertNoServerShadowed(settings: EdgeSettings, signal?: AbortSignal): Promise<void> {
  const { folder, server, listen, ports } = settings
  const { output } = await runNginx(settings, '-T', settings.config, signal)
  const families = new Set<string>(listen.filter(isSingle).map((address) => (isIPv6(address) ? '[::]' : '*')))
  const isShadowed = ({ address, port, isDual }: Listening): boolean =>
    (port === ports.http || port === ports.https) &&
    (families.has(address) || (address === '[::]' && isDual && families.has('*')))
  for (const { file, text } of filesIn(output)) {
    if (file.startsWith(`${folder}/`) || !listensIn(text).some(isShadowed)) continue
    throw new EdgeFault(
      'unavailable',
      `A server in ${escapeText(file)} listens on all addresses and on a port of edge ${server}, so it would lose its visitors. ` +
        `Give its listen directive an address, or set edges.${server}.listen to the address that it uses.`,
    )
  }
}

const isSingle = (address: string): boolean => address !== '0.0.0.0' && address !== '::'

/** The output of `nginx -T`, file by file. */
function filesIn(dump: string): { file: string; text: string }[] {
  const [, ...pieces] = dump.split(/^# configuration file (\/.*):$/m)
  return pieces.flatMap((file, index) => (index % 2 === 0 ? [{ file, text: pieces[index + 1] ?? '' }] : []))
}

/** Empty for a file that our parser cannot read: nginx has modules that embed other languages. */
function listensIn(text: string): readonly Listening[] {
  try {
    const listens = directivesIn(text).filter(({ name }) => name === 'listen')
    return parseListens(
      listens.map(({ args }) => args),
      false,
    )
  } catch (error) {
    if (error instanceof UnreadableText) return []
    throw error
  }
}
