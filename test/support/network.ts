import { randomInt } from 'node:crypto'

const BLOCKS = 6
const WIDTH = 40

/** A loopback network `127.x.y` that neither a default lab nor a test in another worker uses. */
export function randomNetwork(): string {
  const block = Number(process.env.VITEST_POOL_ID ?? 0) % BLOCKS
  return `127.${1 + block * WIDTH + randomInt(WIDTH)}.${randomInt(1, 250)}`
}
