/**
 * Another instance in its own process. After a line of input it runs the task named by its second argument and prints
 * the outcomes.
 */
import { once } from 'node:events'
import { openStore } from '../../src/store/open.ts'
import { NOW, presented, sampleEntry } from './samples.ts'

const [setting = '', task, times] = process.argv.slice(2)
const store = await openStore(JSON.parse(setting))

const TASKS: Record<string, () => Promise<unknown>> = {
  spend: () => store.spendCapability(presented(), NOW),
  append: () => store.appendAudit(sampleEntry()),
}
const attempt = TASKS[task ?? ''] ?? (() => Promise.reject(new Error(`There is no task ${task}.`)))

process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(Array.from({ length: Number(times) }, attempt))
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
// The store is not closed: an acknowledged write must survive however the process ends.
process.kill(process.pid, 'SIGKILL')
