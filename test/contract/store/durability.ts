import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { describe, expect } from 'vitest'
import { verifyAudit } from '../../../src/operate/verify/audit.ts'
import type { Bench } from '../engines.ts'
import { NOW, presented, sampleCapability, samplePlan } from '../samples.ts'

const RIVAL = fileURLToPath(new URL('../rival.ts', import.meta.url))

export const durabilitySuite = (on: Bench) =>
  describe('two processes that are killed', () => {
    /** Two processes do the same at the same time and are killed after their results. */
    const rivalsOutcomes = async (task: 'spend' | 'append', times: number): Promise<unknown[]> => {
      const rivals = [1, 2].map(
        () => new Rival(spawn(process.execPath, [RIVAL, JSON.stringify(on.setting()), task, String(times)])),
      )
      for (const rival of rivals) expect(await rival.nextLine()).toBe('ready')
      for (const rival of rivals) rival.go()
      const answers = await Promise.all(rivals.map((rival) => rival.nextLine()))
      await Promise.all(rivals.map((rival) => rival.gone))
      return answers.flatMap((answer) => JSON.parse(answer))
    }

    on.it('spend one capability once, and it stays spent', async (store) => {
      await store.insertPlan(samplePlan())
      await store.insertCapability(sampleCapability())
      const outcomes = await rivalsOutcomes('spend', 100)
      expect(outcomes).toHaveLength(200)
      expect(outcomes.filter((outcome) => outcome === 'spent')).toHaveLength(1)
      expect(await store.spendCapability(presented(), NOW)).toBe('used')
    })

    on.it('leave one unbroken chain with every confirmed line', async (store) => {
      const lines = await rivalsOutcomes('append', 50)
      expect(await verifyAudit(store)).toMatchObject({ ok: true, lines: 100 })
      const stored = new Set((await store.readAudit(0, 200)).map((line) => line.hash))
      for (const line of lines) expect(stored).toContain((line as { hash: string }).hash)
    })
  })

class Rival {
  readonly gone: Promise<void>
  readonly #process: ChildProcessWithoutNullStreams
  readonly #lines: AsyncIterator<string>
  #complaint = ''

  constructor(process: ChildProcessWithoutNullStreams) {
    this.#process = process
    this.#lines = createInterface({ input: process.stdout })[Symbol.asyncIterator]()
    this.gone = new Promise((resolve) => process.once('exit', () => resolve()))
    process.stderr.on('data', (text) => {
      this.#complaint += text
    })
  }

  go(): void {
    this.#process.stdin.write('go\n')
  }

  async nextLine(): Promise<string> {
    const { value, done } = await this.#lines.next()
    if (done) throw new Error(`The other process exited: ${this.#complaint}`)
    return value
  }
}
