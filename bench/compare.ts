import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Place } from '../lab/addresses.ts'
import { checkout } from '../lab/checkout.ts'
import { freePort } from '../lab/free-port.ts'
import { inFolder } from './bench-lab.ts'
import { median } from './measure.ts'
import { BENCH_PLACE } from './place.ts'
import { measureSides, Side } from './sides.ts'
import type { Sizes } from './sizes.ts'
import { type Row, row } from './table.ts'

/** What is slower than the other version by more than a tenth is seen before it lands. */
const MOST_RATIO = 1.1

/** Builds another commit in a folder of its own and measures both versions in turns. */
export function compareWith(commit: string, { apply: size }: Sizes): Promise<Row[]> {
  return inFolder(async (folder) => {
    const other = join(folder, 'other')
    build(commit, other)
    const present = await Side.start(checkout(), BENCH_PLACE, join(folder, 'present'), size)
    try {
      const former = await Side.start(other, await otherPlace(), join(folder, 'former'), size)
      await measureSides([present, former], size).finally(() => former.stop())
      return [...present.figures].flatMap(([measure, ms]) => {
        const before = former.figures.get(measure) ?? []
        return [
          row(`${measure}: here`, 'ms', ms),
          row(`${measure}: ${commit}`, 'ms', before),
          row(`${measure}: here : ${commit}`, '×', median(ms) / median(before), { most: MOST_RATIO }),
        ]
      })
    } finally {
      await present.stop()
    }
  })
}

function build(commit: string, folder: string): void {
  mkdirSync(folder)
  const archive = execFileSync('git', ['-C', checkout(), 'archive', commit], { maxBuffer: 500_000_000 })
  execFileSync('tar', ['-x', '-C', folder], { input: archive })
  const lock = (root: string) => readFileSync(join(root, 'package-lock.json'), 'utf8')
  const run = (...args: string[]) => execFileSync('npm', args, { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] })
  if (lock(folder) === lock(checkout())) symlinkSync(join(checkout(), 'node_modules'), join(folder, 'node_modules'))
  else run('ci')
  run('run', '--silent', 'build')
}

/** Beside the network of the present version. */
async function otherPlace(): Promise<Place> {
  const [dns, secondary, outside, inside] = [await freePort(), await freePort(), await freePort(), await freePort()]
  return {
    network: BENCH_PLACE.network.replace('127.250.', '127.251.'),
    dnsPorts: { primary: dns, secondary },
    relayPorts: { outside, inside },
  }
}
