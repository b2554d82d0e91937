import { createHash } from 'node:crypto'
import type { Challenge } from '../../edge/record/challenge.ts'
import type { Entry } from '../../edge/record/entry.ts'
import { escaped, mapKey, serverName } from '../../estate/reading/text/written-names.ts'
import { CHALLENGE_PATH, modelOf, needsBlock, type RenderedEntry } from './render-model.ts'
import { renderBlock, renderBlocks } from './render-site.ts'
import { type HostKind, TEXT_KINDS } from './shards.ts'
import type { Listening } from './sockets.ts'
import { plainBlock, writtenBlock } from './written-block.ts'

/** The texts of one host, by the kind of their shard. */
export type Parts = ReadonlyMap<HostKind, string>

/** All texts of an entry that nginx reads. Throws `change_invalid` for an option id that the edge does not have. */
export function renderParts(entry: Entry, listening: Listening, challenge?: Challenge): Parts {
  const model = modelOf(entry, challenge)
  const { host, certificate } = entry
  const parts = new Map<HostKind, string>(needsBlock(model) ? blockParts(model, listening) : lineParts(model))
  if (certificate !== null) parts.set('tls/hosts', certificateLine(host, certificate))
  return parts
}

/** The part of a host in `tls/hosts`. */
export const certificateLine = (host: string, id: string): string => `${mapKey(host)} ${id};\n`

/** The id in such a part, also where an administrator has put it in quotes. */
export const certificateIn = (part: string): string | undefined => /\s["']?([0-9a-f]{32})["']?\s*;/.exec(part)?.[1]

/**
 * An entry as lines. The base file has one server for all hosts of a kind. A host is a name in that server, and values in maps. The
 * question and the answer of a host are one value: the base file compares the question.
 */
function lineParts({ host, target, tls, identity, challenge }: RenderedEntry): [HostKind, string][] {
  return [
    [tls ? 'names-https' : 'names-http', `server_name ${serverName(host)};\n`],
    ['backends', `${mapKey(host)} ${target};\n`],
    ...(identity
      ? [['answers', `${mapKey(host)} ${identity.question}:${identity.answer};\n`] as [HostKind, string]]
      : []),
    // Written as a pattern: there are few challenges at a time, and none fits a hash table.
    ...(challenge
      ? [
          [
            'challenges',
            `"~^${escaped(host)} ${escaped(CHALLENGE_PATH)}${challenge.token}$" ${challenge.answer};\n`,
          ] as [HostKind, string],
        ]
      : []),
  ]
}

const BLOCK = '#: '

const blockParts = (model: RenderedEntry, listening: Listening): [HostKind, string][] => [
  ['blocks', `${BLOCK}${model.host}\n${writtenBlock(model.host, renderBlock(model, listening))}\n`],
]

/** The server blocks in the part of a host, in the renderer's form. */
export const blockIn = (host: string, part: string): string => plainBlock(host, part.slice(part.indexOf('\n') + 1, -1))

/** Identifies the texts of a host. */
export const digestOf = (parts: Parts): string =>
  createHash('sha256')
    .update(TEXT_KINDS.map((kind) => `${kind}\n${parts.get(kind) ?? ''}`).join('\n'))
    .digest('hex')
    .slice(0, 32)

/**
 * Server blocks with the same effect as the texts of a host. Null if nginx does not serve the host by these texts. `entry`: the
 * record of the texts, if they are unedited.
 */
export function standaloneBlocks(
  host: string,
  parts: Parts,
  entry: Entry | undefined,
  listening: Listening,
): string | null {
  const block = parts.get('blocks')
  if (block !== undefined) return blockIn(host, block)
  if (entry) return renderBlocks(modelOf(entry), listening)
  const tls = parts.has('names-https')
  if (!tls && !parts.has('names-http')) return null
  // An administrator may have changed the spaces, or added a comment at the end.
  const [, target] = /^\s*\S+\s+([^\s;{}"']+)\s*;[ \t]*(?:#.*)?$/m.exec(parts.get('backends') ?? '') ?? []
  const [, question, answer] = /\s([0-9a-f]{32}):([0-9a-f]{32});$/m.exec(parts.get('answers') ?? '') ?? []
  const identity = question === undefined || answer === undefined ? undefined : { question, answer }
  if (target === undefined) return null
  return renderBlocks({ host, target, tls, identity, furtherTargets: undefined, options: undefined }, listening)
}
