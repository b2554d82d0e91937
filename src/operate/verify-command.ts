import type { Command } from 'commander'
import { type Configured, onThisMachine, withExample, withJson } from '../terminal/declare.ts'
import { type Output, print } from '../terminal/print.ts'
import type { Screen, Tone } from '../terminal/screen.ts'
import { hanging } from '../terminal/text.ts'
import { withOperations } from './control/with-operations.ts'
import type { Machine } from './machine.ts'
import { configIn } from './open-config.ts'
import type { Evidence, Verified } from './verify/evidence.ts'

export function addVerify(program: Command, machine: Machine): void {
  const command = onThisMachine(program.command('verify'))
    .description('check from outside that every promise holds: store, edges, DNS, certificates and audit')
    .action(async ({ config, json }: Configured) =>
      withOperations(await configIn(config), machine, async (operate) => {
        const { PROMISES } = await import('./verify/evidence.ts')
        print(output(await operate('verify', {}), PROMISES), json)
      }),
    )
  withExample(withJson(command), 'drawbridge verify --config /etc/drawbridge/drawbridge.yaml')
}

/** What could not be looked at is no success. */
const output = (verified: Verified, promises: Readonly<Record<string, string>>): Output => ({
  body: { ok: holds(verified), ...verified },
  lines: (screen) => verifiedLines(verified, promises, screen),
  exitCode: holds(verified) ? 0 : 1,
})

const holds = ({ evidence }: Verified): boolean => evidence.every(({ verdict }) => verdict === 'noticed')

const WORDS: Readonly<Record<Evidence['verdict'] | 'holds', { readonly word: string; readonly tone: Tone }>> = {
  holds: { word: 'holds', tone: 'good' },
  noticed: { word: 'holds', tone: 'good' },
  unknown: { word: 'UNKNOWN', tone: 'careful' },
  broken: { word: 'BROKEN', tone: 'bad' },
}
const WIDTH = 9

function verifiedLines(verified: Verified, promises: Readonly<Record<string, string>>, screen: Screen): string[] {
  const { evidence, looked, underWay } = verified
  const lines = Object.entries(promises).flatMap(([name, promise]) => {
    const found = evidence.filter((one) => one.promise === name)
    const verdicts = new Set(found.map(({ verdict }) => verdict))
    const { word, tone } = WORDS[(['broken', 'unknown'] as const).find((verdict) => verdicts.has(verdict)) ?? 'holds']
    const head = screen.paint(tone, word.padEnd(WIDTH))
    return [
      ...hanging(head, WIDTH, promise, screen.columns),
      ...found.flatMap(({ sentence }) => hanging(`${' '.repeat(WIDTH)}- `, WIDTH + 2, sentence, screen.columns)),
    ]
  })
  const busy = underWay.length > 0 ? ` Changing now, and not judged: ${underWay.join(', ')}.` : ''
  const { hosts, edges, runs, auditLines } = looked
  const counted = `Looked at ${hosts} hosts, ${edges} edges, ${runs} runs and ${auditLines} lines of the audit trail.`
  return [...lines, '', ...hanging('', 0, `${counted}${busy}`, screen.columns)]
}
