import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { isRoot } from '../../../lab/program.ts'
import { sixtySites } from '../../support/edge/sites/sixty-sites.ts'
import { expose, PAGE, setUp, visit } from '../../support/machine/installation.ts'
import { Machine } from '../../support/machine/machine.ts'
import { upgradeNginx } from '../../support/machine/newer-nginx.ts'
import { ADDRESS, surround } from '../../support/machine/surroundings.ts'
import { buildPackage } from '../../support/package/build.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const SITES = 37
const folder = tempFolder()
let deb: string
beforeAll(async () => {
  if (isRoot()) ({ deb } = await buildPackage(folder.path, { only: 'deb', uncompressed: true }))
}, 300_000)
afterAll(() => folder[Symbol.dispose]())

/** The first hand-written sites in all styles, with the default server. */
async function writeSites(machine: Machine): Promise<string[]> {
  const { files, names } = sixtySites({ prefix: '/etc/nginx', http: 80, https: 443 } as never, 3000)
  const chosen = Object.entries(files).filter(([name]) => Number(/\/(\d+)-/.exec(name)?.[1]) < SITES)
  const pair = '-newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -keyout /etc/nginx/own.key -out /etc/nginx/own.crt'
  await machine.done(`openssl req -x509 -days 30 -subj /CN=own ${pair}; rm /etc/nginx/sites-enabled/default`)
  for (const [name, text] of chosen) await machine.write(`/etc/nginx/${name}`, text)
  await machine.done('nginx -t && systemctl restart nginx')
  return names.filter((name) => Number(/site(\d+)\./.exec(name)?.[1]) < SITES)
}

/** What visitors of all sites get, on both ports. */
async function answersOf(machine: Machine, names: readonly string[]): Promise<string> {
  const ask = (name: string) =>
    [80, 443]
      .map(
        (port) =>
          `curl -sk -m 5 -w ' %{http_code}' --resolve ${name}:${port}:${ADDRESS} ${port === 80 ? 'http' : 'https'}://${name}/; echo`,
      )
      .join(';')
  return machine.done([...names, 'unknown.test'].map(ask).join(';'), { seconds: 300 })
}

describe.runIf(isRoot()).each(['bookworm', 'trixie'] as const)('a server with %s and 37 sites', (suite) => {
  test('carries a host beside them, over an upgrade of nginx, and is as before after a purge', {
    timeout: 900_000,
  }, async () => {
    await using machine = await Machine.boot(suite)
    await surround(machine)
    const names = await writeSites(machine)
    const files = () => machine.done('cd /etc/nginx && find . -type f -exec sha256sum {} + | sort')
    const [before, answers] = [await files(), await answersOf(machine, names)]
    expect(answers).toContain('secure site1.test\n 200')
    await setUp(machine, deb)
    expect(await expose(machine, 'app.example.test')).toMatchObject({ code: 0 })
    expect(await visit(machine, 'app.example.test')).toBe(PAGE)
    expect(await answersOf(machine, names)).toBe(answers)
    await upgradeNginx(machine, ['https://app.example.test/'])
    await machine.done('systemctl restart nginx')
    expect(await visit(machine, 'app.example.test')).toBe(PAGE)
    expect(await answersOf(machine, names)).toBe(answers)
    await machine.done('apt-get purge -y drawbridge', { seconds: 200 })
    await machine.done('nginx -t && systemctl restart nginx')
    expect(await files()).toBe(before)
    expect(await answersOf(machine, names)).toBe(answers)
  })
})
