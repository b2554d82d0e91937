/** Another instance in a process of its own. Told `go`, it tries what its second argument names and says what came of it. */
import { once } from 'node:events'
import { openStore } from '../../src/store/open.ts'
import { NOW, presented, sampleEntry } from './samples.ts'

const [setting = '', task, times] = process.argv.slice(2)
const store = await openStore(JSON.parse(setting))

const TASKS: Record<string, () => Promise<unknown>> = {
  spend: () => store.spendCapability(presented(), NOW),
  append: () => store.appendAudit(sampleEntry()),
}
const attempt = TASKS[task ?? ''] ?? (() => Promise.reject(new Error(`no such task: ${task}`)))

process.stdout.write('ready\n')
await once(process.stdin, 'data')
const outcomes = await Promise.all(Array.from({ length: Number(times) }, attempt))
process.stdout.write(`${JSON.stringify(outcomes)}\n`)
// Left without closing: what was answered must stand however the process ends.
process.kill(process.pid, 'SIGKILL')
