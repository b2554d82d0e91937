import { blockFile, linesFile } from './layout.ts'
import { CHALLENGE_PATH, type EntryRecord, renderLines } from './render-lines.ts'
import { optionsIn } from './render-options.ts'
import { assertRecord, renderBlock } from './render-site.ts'
import type { Listening } from './sockets.ts'
import { CHOSEN_BY_NAME } from './written-lines.ts'

/**
 * The record that an entry was rendered from. Undefined for a text that is not, to the byte, what the renderer makes of a valid
 * record: then somebody else wrote it, or another version did.
 */
export function readEntry(host: string, path: string, text: string, listening: Listening): EntryRecord | undefined {
  const isLines = path === linesFile(host)
  if (!isLines && path !== blockFile(host)) return undefined
  const record = isLines ? fromLines(host, text) : fromBlock(host, text)
  if (!record) return undefined
  try {
    assertRecord(record)
    const rendered = isLines ? renderLines(record) : renderBlock(record, listening)
    return rendered === text ? record : undefined
  } catch {
    // A value does not match its grammar, or the options name an id that this edge does not have.
    return undefined
  }
}

/** What is found where it should be. Whether there is more is told by the comparison. */
function fromLines(host: string, text: string): EntryRecord | undefined {
  const [, planId] = /^entry \{"host":"[^"]*","planId":"([^"]*)"\}$/m.exec(text) ?? []
  const [, scheme] = /^(https?) server_name /m.exec(text) ?? []
  const [, target] = /^backend \S+ (\S+);$/m.exec(text) ?? []
  const [, question, answer] = /^answer "\S+ ([0-9a-f]{32})" ([0-9a-f]{32});$/m.exec(text) ?? []
  if (planId === undefined || scheme === undefined || target === undefined) return undefined
  return {
    host,
    planId,
    target,
    tls: scheme === 'https',
    identity: identityOf(question, answer),
    challenges: challengesIn(text, /^challenge "\S+ (\S+)" (\S+);$/gm),
  }
}

function fromBlock(host: string, text: string): EntryRecord | undefined {
  const [, planId] = /^# \S+: made by Drawbridge for (plan_[0-9a-z]+)\. /.exec(text) ?? []
  const written = optionsIn(text)
  const target = written?.target ?? /^ {4}proxy_pass (\S+);$/m.exec(text)?.[1]
  const [, question] = /^ {2}if \(\S+ = ([0-9a-f]{32})\) \{/m.exec(text) ?? []
  const [, answer] = /\{ set \$drawbridge_entry ([0-9a-f]{32}); \}$/m.exec(text) ?? []
  if (planId === undefined || target === undefined) return undefined
  return {
    host,
    planId,
    target,
    furtherTargets: written?.furtherTargets,
    options: written?.options,
    tls: text.includes(`${CHOSEN_BY_NAME}\n`),
    identity: identityOf(question, answer),
    challenges: challengesIn(
      text,
      /^ {2}location = (\S+) \{\n {4}default_type text\/plain;\n {4}return 200 "(\S+)";$/gm,
    ),
  }
}

const identityOf = (question: string | undefined, answer: string | undefined): EntryRecord['identity'] =>
  question === undefined || answer === undefined ? undefined : { question, answer }

const challengesIn = (text: string, pattern: RegExp): Record<string, string> =>
  Object.fromEntries(
    [...text.matchAll(pattern)].map(([, path = '', value = '']) => [path.slice(CHALLENGE_PATH.length), value]),
  )
