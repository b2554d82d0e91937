import { readFileSync, writeFileSync } from 'node:fs'
import { masterPid } from '../../../src/nginx/process/nginx-workers.ts'
import type { TestLab } from '../lab/lab.ts'

/**
 * Adds server blocks to the main file of the Primary's nginx, as an administrator would, and reloads nginx. Returns the function
 * that puts the file back.
 */
export async function addOwnHosts({ description }: TestLab, blocks: (address: string) => string): Promise<() => void> {
  const { config, address, pidFile } = description.edges.primary
  const text = readFileSync(config, 'utf8')
  writeFileSync(
    config,
    text.replace('  include drawbridge/*.conf;', (include) => `${include}\n${blocks(address)}`),
  )
  const reload = () => {
    const master = masterPid(pidFile)
    if (master !== undefined) process.kill(master, 'SIGHUP')
  }
  reload()
  return () => {
    writeFileSync(config, text)
    reload()
  }
}
