import { randomInt } from 'node:crypto'

const BLOCKS = 6
const WIDTH = 40

/** `127.x.y` on loopback, apart from the lab's usual place and from what tests in other workers have at the same time. */
export function randomNetwork(): string {
  const block = Number(process.env.VITEST_POOL_ID ?? 0) % BLOCKS
  return `127.${1 + block * WIDTH + randomInt(WIDTH)}.${randomInt(1, 250)}`
}
