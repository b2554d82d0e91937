/**
 * Claims a few hosts of the edge folder in its first argument, again and again, with numbers that grow with time and overlap
 * between processes. The file is written anew often. Prints what became of each claim, with times of the machine's clock.
 */
import { randomInt } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { isFenced } from '../../../src/edge/contract.ts'
import { Fences } from '../../../src/edge/fences/fences.ts'

const [folder = ''] = process.argv.slice(2)
const fences = new Fences(folder, { now: Date.now, spareLines: 10 })
const now = () => Number(process.hrtime.bigint())
const outcomes: unknown[] = []

for (let round = 0; round < 400; round += 1) {
  const host = `h${randomInt(3)}.lab.test`
  const number = Math.floor(Date.now() / 4) + randomInt(3)
  const begun = now()
  const accepted = await fences
    .claim([{ host, epoch: 1, number }])
    .record()
    .then(
      () => true,
      (error: unknown) => {
        if (!isFenced(error)) throw error
        return false
      },
    )
  outcomes.push({ host, number, accepted, begun, ended: now() })
  if (round % 10 === 0) await pause(1)
}
process.stdout.write(JSON.stringify(outcomes))
