import type { Challenge } from '../../edge/record/challenge.ts'
import { canonicalEntry, type Entry, type EntryTarget } from '../../edge/record/entry.ts'
import { parseEndpoint } from '../../model/address.ts'
import { blockIn, certificateIn, digestOf, type Parts, renderParts } from '../config/render-entry.ts'
import { modelOf } from '../config/render-model.ts'
import { optionsIn } from '../config/render-options.ts'
import { renderBlock } from '../config/render-site.ts'
import { TEXT_KINDS } from '../config/shards.ts'
import type { Listening } from '../config/sockets.ts'
import { CHOSEN_BY_NAME } from '../config/written-block.ts'

/**
 * Reads the record of a host from its texts. Generations of earlier versions have no records. The texts count as unedited, because
 * the store knows what was applied. Undefined if the texts are not those of an entry.
 */
export function formerRecord(
  host: string,
  line: string | undefined,
  parts: Parts,
): { entry: Entry; challenge?: Challenge; text: string } | undefined {
  try {
    const block = parts.get('blocks')
    const entry =
      block === undefined ? fromLines(host, line ?? '', parts) : fromBlock(host, blockIn(host, block), parts)
    return entry === undefined ? undefined : { entry: canonicalEntry(entry), text: digestOf(parts) }
  } catch {
    // A value does not match its grammar.
    return undefined
  }
}

/** Whether an earlier version rendered these texts from the record. Ignores where that version listened. */
export function isAsFormerlyRendered(entry: Entry, parts: Parts, listening: Listening): boolean {
  const block = parts.get('blocks')
  if (block !== undefined)
    return withoutListen(blockIn(entry.host, block)) === withoutListen(renderBlock(modelOf(entry), listening))
  const rendered = renderParts(entry, listening)
  // A challenge that a run has left is not an edit.
  return TEXT_KINDS.every((kind) => kind === 'challenges' || parts.get(kind) === rendered.get(kind))
}

const withoutListen = (block: string): string => block.replaceAll(/^ {2}listen .*\n/gm, '').trimEnd()

function fromLines(host: string, line: string, parts: Parts): unknown {
  const [, plan] = /"planId":"(plan_[0-9a-z]+)"/.exec(line) ?? []
  const [, target] = /\s(\S+);\n$/.exec(parts.get('backends') ?? '') ?? []
  const [, question, answer] = /\s([0-9a-f]{32}):([0-9a-f]{32});\n$/.exec(parts.get('answers') ?? '') ?? []
  if (plan === undefined || target === undefined) return undefined
  return { host, plan, targets: [targetIn(target)], certificate: certificateOf(parts), proof: { question, answer } }
}

function fromBlock(host: string, text: string, parts: Parts): unknown {
  const [, plan] = /^# \S+: made by Drawbridge for (plan_[0-9a-z]+)\. /.exec(text) ?? []
  const written = optionsIn(text)
  const target = written?.target ?? /^ {4}proxy_pass (\S+);$/m.exec(text)?.[1]
  const [, question] = /^ {2}if \(\S+ = ([0-9a-f]{32})\) \{/m.exec(text) ?? []
  const [, answer] = /\{ set \$drawbridge_entry ([0-9a-f]{32}); \}$/m.exec(text) ?? []
  if (plan === undefined || target === undefined) return undefined
  return {
    ...{ host, plan },
    targets: [target, ...(written?.furtherTargets ?? [])].map(targetIn),
    certificate: text.includes(`${CHOSEN_BY_NAME}\n`) ? certificateOf(parts) : null,
    ...(written?.options && { options: written.options }),
    proof: { question, answer },
  }
}

const certificateOf = (parts: Parts): string | null => certificateIn(parts.get('tls/hosts') ?? '') ?? null

function targetIn(url: string): EntryTarget {
  const [, scheme, endpoint = ''] = /^(https?):\/\/(.+)$/.exec(url) ?? []
  const parsed = parseEndpoint(endpoint, 0)
  if (!parsed) throw new Error(`${url} is not a target.`)
  return { scheme: scheme === 'https' ? 'https' : 'http', address: parsed.address, port: parsed.port }
}
