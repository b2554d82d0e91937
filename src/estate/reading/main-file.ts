import { isUtf8 } from 'node:buffer'
import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { EdgeFault } from '../../edge/contract/fault.ts'
import { errorCode } from '../../primitives/durable-file.ts'
import { releasedFolder } from '../layout.ts'
import type { EdgeSettings } from '../settings.ts'
import { type Directive, directivesIn } from './text/directives.ts'
import { Tokens, UnreadableText } from './text/tokens.ts'

/** The text of the administrator's main file. Rejects with `unavailable` when its http block does not include our folder. */
export async function readMainFile(settings: Pick<EdgeSettings, 'config' | 'folder'>): Promise<string> {
  const { config } = settings
  const text = readText(config)
  if (!readDirectives(text, config).some((directive) => includesOurs(directive, settings))) {
    throw new EdgeFault(
      'unavailable',
      `nginx does not include Drawbridge's folder. Add "include ${ourGlob(settings)};" to the http block of ${config}.`,
    )
  }
  return text
}

/**
 * The text with the include of our folder as the last directive of the http block, so that nginx reads all other servers before
 * ours. Returns the text unchanged if it already includes the folder. Throws an EdgeFault if the text has no http block or cannot
 * be parsed.
 */
export function withInclude(text: string, settings: Pick<EdgeSettings, 'config' | 'folder'>): string {
  if (readDirectives(text, settings.config).some((directive) => includesOurs(directive, settings))) return text
  return withLastInclude(withoutReleased(text, settings), settings)
}

/** Removes the line of an earlier installation: our base file includes the released sites, and nginx would read them twice. */
const withoutReleased = (text: string, settings: Pick<EdgeSettings, 'config' | 'folder'>): string =>
  replaceAll(
    text,
    readDirectives(text, settings.config).filter((directive) => includesReleased(directive, settings)),
    undefined,
  )

function withLastInclude(text: string, settings: Pick<EdgeSettings, 'config' | 'folder'>): string {
  const directives = readDirectives(text, settings.config)
  const end = directives.some(({ name, context }) => name === 'http' && context.length === 0)
    ? endOfHttp(text)
    : undefined
  if (end === undefined)
    throw new EdgeFault('unavailable', `${settings.config} has no http block. Name the file that has it.`)
  const include = `include ${ourGlob(settings)};`
  const line = text.lastIndexOf('\n', end - 1) + 1
  if (text.slice(line, end).trim() !== '') return `${text.slice(0, end)} ${include} ${text.slice(end)}`
  const last = directives.findLast(({ context, start }) => context.join() === 'http' && start < end)
  const indent = last ? (/[ \t]*$/.exec(text.slice(0, last.start))?.[0] ?? '') : '    '
  return `${text.slice(0, line)}${indent}${include}\n${text.slice(line)}`
}

/** The place of the `}` that ends the http block. */
function endOfHttp(text: string): number | undefined {
  const tokens = new Tokens(text)
  let depth = 0
  let name = ''
  let isHttp = false
  let isStart = true
  while (tokens.next()) {
    if (isStart && tokens.kind === 'word') name = tokens.word()
    if (tokens.kind === '{' && depth === 0) isHttp = name === 'http'
    if (tokens.kind === '{') depth += 1
    if (tokens.kind === '}') depth -= 1
    if (tokens.kind === '}' && depth === 0 && isHttp) return tokens.start
    isStart = tokens.kind !== 'word'
  }
  return undefined
}

/**
 * The text of the main file before and after our include is removed, or undefined if it has none. `keepsReleased`: the new text includes the released
 * sites, which our base file included before. A line with nothing else, apart from a comment that names Drawbridge, is removed as a
 * whole. The file is then identical to the file before the installation.
 */
export function withoutOurInclude(
  settings: Pick<EdgeSettings, 'config' | 'folder'>,
  { keepsReleased }: { readonly keepsReleased: boolean },
): { readonly before: string; readonly after: string } | undefined {
  const text = readText(settings.config)
  const directives = readDirectives(text, settings.config)
  const ours = directives.filter((directive) => includesOurs(directive, settings))
  if (ours.length === 0) return undefined
  const isThere = directives.some((directive) => includesReleased(directive, settings))
  const instead = keepsReleased && !isThere ? `include ${releasedGlob(settings)};` : undefined
  return { before: text, after: replaceAll(text, ours, instead) }
}

/**
 * Call it directly before a new text takes the place of this one. Throws an EdgeFault if the main file has other bytes: an edit would
 * be lost, or what is not UTF-8 be damaged.
 */
export function assertUnchanged(settings: Pick<EdgeSettings, 'config' | 'folder'>, text: string): void {
  const { config } = settings
  const content = read(config)
  if (content.equals(Buffer.from(text))) return
  if (isUtf8(content))
    throw new EdgeFault(
      'changed_meanwhile',
      `${config} was changed by somebody else at the same time. It was not overwritten. Call the command again.`,
    )
  throw new EdgeFault(
    'unavailable',
    `${config} is not written in UTF-8, so Drawbridge does not change it. Add the line "include ${ourGlob(settings)};" to its http block, ` +
      'or remove it to leave, by hand. Then reload nginx and call the command again.',
  )
}

/** Whether the main file itself includes the released sites. */
export const hasReleasedInclude = (settings: Pick<EdgeSettings, 'config' | 'folder'>): boolean =>
  readDirectives(readText(settings.config), settings.config).some((directive) => includesReleased(directive, settings))

/** Replaces the first directive by `instead` if it is given, and removes all others. */
function replaceAll(text: string, directives: readonly Directive[], instead: string | undefined): string {
  return directives.reduceRight((rest, { start, end }, at) => {
    if (at === 0 && instead !== undefined) return rest.slice(0, start) + instead + rest.slice(end)
    const lineStart = rest.lastIndexOf('\n', start - 1) + 1
    const lineEnd = rest.indexOf('\n', end)
    const [before, after] = [rest.slice(lineStart, start), rest.slice(end, lineEnd < 0 ? undefined : lineEnd)]
    const isAlone = /^[ \t]*$/.test(before) && /^[ \t]*(#.*drawbridge.*)?\r?$/i.test(after)
    // Between other directives on one line, the include has a space on both sides. Remove one of them.
    const space = rest[start - 1] === ' ' && rest[end] === ' ' ? 1 : 0
    if (!isAlone) return rest.slice(0, start - space) + rest.slice(end + space)
    return rest.slice(0, lineStart) + (lineEnd < 0 ? '' : rest.slice(lineEnd + 1))
  }, text)
}

const readText = (config: string): string => read(config).toString('utf8')

function read(config: string): Buffer {
  try {
    return readFileSync(config)
  } catch (error) {
    throw new EdgeFault(
      'unavailable',
      `The nginx configuration ${config} cannot be read (${errorCode(error)}). Check the path and the permissions.`,
    )
  }
}

/** Whether the directive is the include of Drawbridge's folder in the http block. */
export const includesOurs = (directive: Directive, settings: Pick<EdgeSettings, 'config' | 'folder'>): boolean =>
  directive.context.join() === 'http' && includePattern(directive, settings) === ourGlob(settings)

const includesReleased = (directive: Directive, settings: Pick<EdgeSettings, 'config' | 'folder'>): boolean =>
  directive.context.join() === 'http' && includePattern(directive, settings) === releasedGlob(settings)

/** The absolute pattern of an include. Relative patterns start at the folder of the main file. */
const includePattern = ({ name, args }: Directive, { config }: Pick<EdgeSettings, 'config'>): string | undefined =>
  name === 'include' ? resolve(dirname(config), args[0] ?? '') : undefined

const ourGlob = ({ folder }: Pick<EdgeSettings, 'folder'>): string => join(folder, '*.conf')
const releasedGlob = ({ folder }: Pick<EdgeSettings, 'folder'>): string => join(releasedFolder(folder), '*.conf')

function readDirectives(text: string, config: string): Directive[] {
  try {
    return directivesIn(text)
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error
    throw new EdgeFault(
      'config_broken',
      `The nginx configuration ${config} cannot be parsed: ${error.message}. Run "nginx -t" to find the error.`,
    )
  }
}
