import { setTimeout as sleep } from 'node:timers/promises'

/** Waits until it holds. What never holds is an Error that says what was waited for. */
export async function until(what: string, holds: () => boolean | Promise<boolean>, patienceMs = 20_000): Promise<void> {
  const giveUpAt = Date.now() + patienceMs
  while (!(await holds())) {
    if (Date.now() > giveUpAt) throw new Error(`waited ${patienceMs} ms in vain: ${what}`)
    await sleep(25)
  }
}
