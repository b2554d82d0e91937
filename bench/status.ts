import { spawn } from 'node:child_process'
import { launcher } from '../lab/checkout.ts'
import type { Lab } from '../lab/lab.ts'
import { addHosts, hostsKnown } from './many-hosts.ts'
import { formatMs, summarize, timed } from './measure.ts'

const HOSTS = 10_000
const ROUNDS = 15
const MOST_MS = 1_000

/** Measures the built program from start to exit, with and without the hosts of a large edge. */
export async function benchStatus({ description: lab }: Lab): Promise<void> {
  addHosts(lab, HOSTS)
  await hostsKnown(lab, HOSTS)
  const commands = {
    'node itself': [process.execPath, '-e', '0'],
    'drawbridge --help': [process.execPath, launcher(), '--help'],
    'drawbridge policy': [process.execPath, launcher(), 'policy', '--url', lab.inside],
    'drawbridge status': [process.execPath, launcher(), 'status', '--url', lab.inside],
    'drawbridge status --json': [process.execPath, launcher(), 'status', '--json', '--url', lab.inside],
  }
  for (const [name, command] of Object.entries(commands)) {
    const samples: number[] = []
    let lines = 0
    for (let round = 0; round < ROUNDS; round += 1) {
      samples.push(
        await timed(async () => {
          lines = await linesOf(command)
        }),
      )
    }
    const { p50, p95 } = summarize(samples)
    const figures = `p50 ${formatMs(p50).padStart(11)}   p95 ${formatMs(p95).padStart(11)}`
    process.stdout.write(`${name.padEnd(26)} ${figures}   ${lines} lines\n`)
    if (name === 'drawbridge status' && (p50 > MOST_MS || lines < HOSTS)) process.exitCode = 1
  }
  process.stdout.write(`\nTarget: drawbridge status with ${HOSTS} hosts within ${MOST_MS} ms.\n`)
}

function linesOf([program = '', ...args]: readonly string[]): Promise<number> {
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let lines = 0
  child.stdout.on('data', (chunk: Buffer) => {
    for (const byte of chunk) if (byte === 0x0a) lines += 1
  })
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (code) =>
      code === 0 ? resolve(lines) : reject(new Error(`${args.join(' ')} exited with code ${code}.`)),
    )
  })
}
