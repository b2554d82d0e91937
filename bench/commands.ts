import { spawn } from 'node:child_process'
import { launcher } from '../lab/checkout.ts'
import type { LabDescription } from '../lab/description.ts'
import { timed } from './measure.ts'
import { type Row, row } from './table.ts'

const MOST_MS = 1_000

/** The built program from start to exit, beside Node alone. */
export async function commandRows({ inside }: LabDescription, hosts: number, rounds: number): Promise<Row[]> {
  const commands = {
    'node alone': ['-e', '0'],
    'drawbridge --help': [launcher(), '--help'],
    'drawbridge policy': [launcher(), 'policy', '--url', inside],
    'drawbridge status --json': [launcher(), 'status', '--json', '--url', inside],
    'drawbridge status': [launcher(), 'status', '--url', inside],
  }
  const rows: Row[] = []
  let lines = 0
  for (const [name, args] of Object.entries(commands)) {
    const samples: number[] = []
    for (let round = 0; round < rounds; round += 1) {
      samples.push(
        await timed(async () => {
          lines = await linesOf(args)
        }),
      )
    }
    rows.push(row(`the command: ${name}`, 'ms', samples, name === 'drawbridge status' ? { most: MOST_MS } : undefined))
  }
  if (lines < hosts) throw new Error(`drawbridge status printed ${lines} lines for ${hosts} hosts.`)
  return rows
}

function linesOf(args: readonly string[]): Promise<number> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
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
