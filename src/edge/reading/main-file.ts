import { readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { errorCode } from '../../primitives/durable-file.ts'
import { EdgeFault } from '../contract.ts'
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
 * The text with the include of our folder as the last directive of the http block, so that nginx reads all other servers before ours.
 * The same text if it includes the folder already. Throws an EdgeFault if there is no http block, or the text cannot be parsed.
 */
export function withInclude(text: string, settings: Pick<EdgeSettings, 'config' | 'folder'>): string {
  const directives = readDirectives(text, settings.config)
  if (directives.some((directive) => includesOurs(directive, settings))) return text
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
 * The text of the main file without our include, or undefined if it has none. A line that has nothing else, apart from a comment that
 * names Drawbridge, goes as a whole: so a file is again as it was before the line was added.
 */
export function withoutOurInclude(settings: Pick<EdgeSettings, 'config' | 'folder'>): string | undefined {
  const text = readText(settings.config)
  const ours = readDirectives(text, settings.config).filter((directive) => includesOurs(directive, settings))
  if (ours.length === 0) return undefined
  return ours.reduceRight((rest, { start, end }) => {
    const lineStart = rest.lastIndexOf('\n', start - 1) + 1
    const lineEnd = rest.indexOf('\n', end)
    const [before, after] = [rest.slice(lineStart, start), rest.slice(end, lineEnd < 0 ? undefined : lineEnd)]
    const isAlone = /^[ \t]*$/.test(before) && /^[ \t]*(#.*drawbridge.*)?\r?$/i.test(after)
    // In a line of others the include stands between two spaces of its own.
    const space = rest[start - 1] === ' ' && rest[end] === ' ' ? 1 : 0
    if (!isAlone) return rest.slice(0, start - space) + rest.slice(end + space)
    return rest.slice(0, lineStart) + (lineEnd < 0 ? '' : rest.slice(lineEnd + 1))
  }, text)
}

function readText(config: string): string {
  try {
    return readFileSync(config, 'utf8')
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

/** The absolute pattern of an include. Relative patterns start at the folder of the main file. */
const includePattern = ({ name, args }: Directive, { config }: Pick<EdgeSettings, 'config'>): string | undefined =>
  name === 'include' ? resolve(dirname(config), args[0] ?? '') : undefined

const ourGlob = ({ folder }: Pick<EdgeSettings, 'folder'>): string => join(folder, '*.conf')

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
