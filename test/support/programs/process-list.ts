import { readdirSync, readFileSync } from 'node:fs'

/** Collects the command line and environment of every process on the machine until `stop`. */
export function watchProcesses(): { stop(): string } {
  const seen = new Set<string>()
  const look = () => {
    for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name))) {
      for (const file of ['cmdline', 'environ']) seen.add(textOf(`/proc/${pid}/${file}`))
    }
  }
  const timer = setInterval(look, 50)
  return {
    stop() {
      clearInterval(timer)
      look()
      return [...seen].join('\n')
    },
  }
}

function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}
