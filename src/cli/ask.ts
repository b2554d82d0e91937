import { createInterface } from 'node:readline/promises'
import { Declined, UsageError } from './usage.ts'

/** Goes on only when a person says yes. Where nobody sits, `--yes` must have said it. */
export async function insistOn(question: string, yes: boolean | undefined): Promise<void> {
  if (yes) return
  if (!process.stdin.isTTY) throw new UsageError('nobody is there to be asked: say --yes')
  const terminal = createInterface({ input: process.stdin, output: process.stderr })
  const answer = await terminal.question(`${question} [y/N] `).finally(() => terminal.close())
  if (!/^y(es)?$/i.test(answer.trim())) throw new Declined('Nothing was changed.')
}
