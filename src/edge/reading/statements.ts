import { visit } from '../nginx-text.ts'
import { UnreadableText, type Word } from '../nginx-tokens.ts'

/** One directive of a file, and what is in its block. Of the many that there are, those that say who serves what. */
export interface Statement {
  readonly name: string
  readonly args: readonly string[]
  readonly line: number
  readonly block: readonly Statement[] | undefined
}

export interface ParsedText {
  /** All up to the fault, where there is one. */
  readonly statements: readonly Statement[]
  readonly fault: UnreadableText | undefined
}

const KEPT = new Map(
  [
    'http',
    'include',
    'server',
    'listen',
    'server_name',
    'ssl',
    'location',
    'if',
    'limit_except',
    'proxy_pass',
    'return',
    'set',
    'upstream',
    'map',
  ].map((name) => [name, name]),
)

interface OpenBlock {
  /** Undefined: nothing of it is kept. */
  readonly statements: Statement[] | undefined
  readonly isMap: boolean
}

/** Never throws: a fault is told beside what could be read. */
export function parse(text: string): ParsedText {
  const top: Statement[] = []
  const blocks: OpenBlock[] = [{ statements: top, isMap: false }]
  const add = (name: Word, args: readonly Word[], block?: Statement[]): boolean => {
    const { statements, isMap } = blocks.at(-1) ?? {}
    const kept = isMap ? own(name.text) : KEPT.get(name.text)
    if (kept === undefined) return false
    statements?.push({ name: kept, args: args.map((word) => own(word.text)), line: name.line, block })
    return statements !== undefined
  }
  try {
    visit(text, {
      directive: (name, args) => add(name, args),
      open(name, args) {
        const block: Statement[] = []
        blocks.push({ statements: add(name, args, block) ? block : undefined, isMap: name.text === 'map' })
      },
      close: () => blocks.pop(),
    })
  } catch (error) {
    if (!(error instanceof UnreadableText)) throw error
    return { statements: top, fault: error }
  }
  return { statements: top, fault: undefined }
}

/** A copy: a slice would keep the whole text in memory for as long as it lives. */
const own = (text: string): string => (text.length < 13 ? text : Buffer.from(text).toString())
