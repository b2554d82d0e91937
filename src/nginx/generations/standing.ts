import type { Standing as EngineStanding } from '../../edge/engine/web-server.ts'
import type { Challenge } from '../../edge/record/challenge.ts'
import { canonicalEntry, type Entry, revisionOf } from '../../edge/record/entry.ts'
import { certificateIn, digestOf, type Parts, renderParts } from '../config/render-entry.ts'
import { ENTRIES, type HostKind, TEXT_KINDS } from '../config/shards.ts'
import type { Listening } from '../config/sockets.ts'
import { formerRecord } from './former.ts'

/** A host of a generation: its record, and its texts in nginx's files. */
export interface Standing extends EngineStanding {
  readonly parts: Parts
  /** The digest of the texts that were rendered from the record. */
  readonly rendered: string | undefined
  /** The record was read from texts of an earlier version. It is unknown whether they were edited. */
  readonly isFormer: boolean
}

/** The line of a host in the shard of records. */
interface Line {
  readonly host: string
  readonly entry: unknown
  readonly challenge?: Challenge
  /** The digest of the rendered texts. It distinguishes an edited text from a text that another version rendered. */
  readonly text: string
}

export function lineOf(entry: Entry, parts: Parts, challenge: Challenge | undefined): string {
  const line: Line = { host: entry.host, entry, ...(challenge && { challenge }), text: digestOf(parts) }
  return `${JSON.stringify(line)}\n`
}

/** Undefined if nothing exists for the host. */
export function standingOf(host: string, part: (kind: HostKind) => string | undefined): Standing | undefined {
  const parts: Parts = new Map(
    TEXT_KINDS.flatMap((kind): [HostKind, string][] => {
      const text = part(kind)
      return text === undefined ? [] : [[kind, text]]
    }),
  )
  const line = part(ENTRIES)
  if (line === undefined && parts.size === 0) return undefined
  const digest = digestOf(parts)
  const own = readLine(host, line)
  const { entry, challenge, text } = own ?? formerRecord(host, line, parts) ?? {}
  return {
    ...{ host, entry, challenge, parts, isFormer: own === undefined },
    rendered: text,
    isEdited: text !== digest,
    revision: revisionOf(entry, digest),
  }
}

/**
 * The certificates that a host needs: that of its record, and that of its line, to which an administrator may have given another one
 * of the edge.
 */
export function certificatesOf({ entry, parts, isEdited }: Pick<Standing, 'entry' | 'parts' | 'isEdited'>): string[] {
  const assigned = isEdited ? certificateIn(parts.get('tls/hosts') ?? '') : undefined
  return [entry?.certificate ?? undefined, assigned].filter((id) => id !== undefined)
}

function readLine(
  host: string,
  line: string | undefined,
): { entry: Entry; challenge?: Challenge; text: string } | undefined {
  if (line === undefined) return undefined
  try {
    const { entry, challenge, text } = JSON.parse(line) as Line
    const record = canonicalEntry(entry)
    if (record.host !== host) return undefined
    return { entry: record, text, ...(challenge && { challenge }) }
  } catch {
    return undefined
  }
}

/** Whether the texts of a host are those of its record, but some are missing. */
export function isOnlyMissing(standing: Standing, listening: Listening): boolean {
  const rendered = renderedAs(standing, listening)
  return rendered !== undefined && [...standing.parts].every(([kind, text]) => rendered.get(kind) === text)
}

/** The texts of the record. Undefined if it has none, also where the edge no longer has a file for an id that its options name. */
export function renderedAs({ entry, challenge }: Standing, listening: Listening): Parts | undefined {
  try {
    return entry && renderParts(entry, listening, challenge)
  } catch {
    return undefined
  }
}
