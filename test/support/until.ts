import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until `holds` returns true. Throws an Error that names `what` when the time is over. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const giveUpAt = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`Timed out after ${patienceMs} ms waiting until ${what}.`)
    await sleep(25)
  }
}
