import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { checkout } from '../../../lab/checkout.ts'
import { fingerprintIn } from '../../../lab/enrolment.ts'
import { isRoot } from '../../../lab/program.ts'
import { expose, PAGE, ready, visit, visitsDuring } from '../../support/machine/installation.ts'
import type { Machine } from '../../support/machine/machine.ts'
import { POSTGRES_URL, trustPostgres } from '../../support/machine/postgres.ts'
import { ADDRESS, AUTHORITY_CA, BACKEND, DIRECTORY, ISSUING_ROOTS, ZONE } from '../../support/machine/surroundings.ts'
import { bootThree, SECONDARY, type ThreeMachines } from '../../support/machine/three.ts'
import { ON_THREE_MACHINES, PAGE_OF_OPERATIONS } from '../../support/machine/typed-blocks.ts'
import { commandsOf } from '../../support/network/page-commands.ts'
import { buildPackage } from '../../support/package/build.ts'
import { tempFolder } from '../../support/temp-folder.ts'
import { until } from '../../support/until.ts'

const [SECTION, RETIRE] = ON_THREE_MACHINES
const HOST = `neighbour.${ZONE}`
/** Before: the service is root and changes nginx itself. */
const SERVICE_AS_ROOT = `[Unit]
After=network-online.target nginx.service
[Service]
ExecStart=/usr/bin/drawbridge serve --config /etc/drawbridge/drawbridge.yaml
Restart=always
StateDirectory=drawbridge
StateDirectoryMode=0700
`
const OWN_UNIT = '/etc/systemd/system/drawbridge.service'

describe.runIf(isRoot())('three booted machines, by the commands of docs/operations.md', { timeout: 900_000 }, () => {
  const folder = tempFolder()
  let machines: ThreeMachines
  let fingerprint = ''
  let code = ''
  let enrolment: Promise<string> | undefined

  beforeAll(async () => {
    const { deb } = await buildPackage(folder.path, { only: 'deb', uncompressed: true })
    machines = await bootThree('bookworm')
    for (const machine of [machines['23'], machines['25'], machines['73']]) {
      await machine.copyIn(deb, '/root/drawbridge.deb')
      await machine.done('apt-get install -y /root/drawbridge.deb')
    }
    await beOneMachine(machines['23'])
    await expectExposed(machines['23'], HOST)
    await prepare()
  }, 900_000)
  afterAll(async () => {
    await machines?.[Symbol.asyncDispose]()
    folder[Symbol.dispose]()
  })

  async function expectExposed(machine: Machine, host: string): Promise<void> {
    expect(await expose(machine, host)).toMatchObject({ code: 0 })
    expect(await visit(machines['23'], host)).toBe(PAGE)
  }

  /** Machine 23 with the package, a service as root and SQLite, made by `drawbridge init`. */
  async function beOneMachine(machine: Machine): Promise<void> {
    const options = [
      `--no-agent --zone ${ZONE} --dns-server ${ADDRESS} --address ${ADDRESS} --internal-network 192.168.45.0/24`,
      `--target 25=${BACKEND} --acme-directory ${DIRECTORY} --acme-ca ${AUTHORITY_CA} --yes`,
    ]
    const printed = await machine.done(`drawbridge init ${options.join(' ')}`)
    const [, key] = /^ {2}(key "drawbridge\." \{.*\};)$/m.exec(printed) ?? []
    const zones = '/etc/bind/named.conf.local'
    const grant = ' update-policy { grant drawbridge. zonesub A AAAA TXT; }; };'
    await machine.write(zones, `${key}\n${(await machine.read(zones)).replace(' };', grant)}`)
    await machine.done('rndc reconfig')
    // The secrets lie in one folder, as the page wants it.
    await machine.done(
      'cd /etc/drawbridge && install -d -m 0700 secrets && mv tsig.key authority.pem secrets/ && chown -R root: secrets && ' +
        'sed -i "s|/etc/drawbridge/tsig.key|/etc/drawbridge/secrets/tsig.key|; s|/etc/drawbridge/authority.pem|/etc/drawbridge/secrets/authority.pem|" drawbridge.yaml',
    )
    await machine.write(OWN_UNIT, SERVICE_AS_ROOT)
    await machine.done('systemctl daemon-reload && systemctl start drawbridge')
    await ready(machine)
  }

  /** What the page wants to be there first, and its configurations of step 1. */
  async function prepare(): Promise<void> {
    const [one, second, third] = [machines['23'], machines['25'], machines['73']]
    const [edge = '', three = ''] = yamlOf(SECTION)
    await one.write('/etc/drawbridge/edge.yaml', edge)
    const elsewhere = edge.replaceAll('23', '73').replace(/^socket:\n(?: .*\n)+/m, '')
    await third.write('/etc/drawbridge/edge.yaml', elsewhere)
    await third.done(
      "mkdir -p /etc/nginx/drawbridge && sed -i 's|^http {|&\\n\\tinclude /etc/nginx/drawbridge/*.conf;|' /etc/nginx/nginx.conf && " +
        'rm /etc/nginx/sites-enabled/default && systemctl reload nginx',
    )
    const former = await one.read('/etc/drawbridge/drawbridge.yaml')
    await one.write('/etc/drawbridge/three.yaml', merged(former, three))
    await one.write('/etc/drawbridge/secrets/store', `${POSTGRES_URL}\n`, '0600')
    for (const machine of [one, second]) await trustPostgres(one, machine)
    const page = readFileSync(join(checkout(), PAGE_OF_OPERATIONS), 'utf8')
    const puts = [
      ['put-store-key', 'dd of=/var/lib/drawbridge/store.key conv=excl status=none'],
      ['put-secrets', 'tar -C /etc/drawbridge/secrets -x'],
    ] as const
    for (const [name, program] of puts) {
      const put = `exec setpriv --reuid drawbridge --regid drawbridge --clear-groups ${program}`
      expect(page).toContain(`${program}\``)
      await second.write(`/usr/local/bin/${name}`, `#!/bin/sh\numask 077\n${put}\n`, '0755')
    }
    const change = `sed -i 's|socket: /run/drawbridge/edge-23.sock|address: ${ADDRESS}|; s|^  address: ${ADDRESS}$|  address: ${BACKEND}|' "$1"`
    await second.write('/usr/local/bin/editor', `#!/bin/sh\n${change}\n`, '0755')
  }

  async function carryOut(name: '23' | '25' | '73', line: string): Promise<void> {
    const machine = machines[name]
    if (line === 'systemctl start drawbridge' && name === '23')
      await machine.done(`rm ${OWN_UNIT} && systemctl daemon-reload`)
    const command = line.replace('FINGERPRINT', fingerprint)
    if (command.includes(' enroll ')) {
      enrolment = machine.done(`${command} >/root/enrolment 2>&1`)
      enrolment.catch(() => undefined)
      await until('the code is printed', async () => {
        code = /\n(\S{100,})\n/.exec((await machine.sh('cat /root/enrolment')).output)?.[1] ?? ''
        return code !== ''
      })
      return
    }
    const isJoin = / edge join /.test(command) && !command.includes('--prepare')
    const output = await machine.done(command, isJoin ? { input: `${code}\n` } : {})
    if (command.includes('--prepare')) fingerprint = fingerprintIn(output)
    if (isJoin) await enrolment
    if (command === 'systemctl start drawbridge' || command === 'systemctl start drawbridge-edge')
      await until('it runs', async () => isUp(machine, command.split(' ').at(-1) ?? ''), 60_000)
  }

  /** A person waits until a unit answers before typing the next line. */
  async function isUp(machine: Machine, unit: string): Promise<boolean> {
    if (unit === 'drawbridge') {
      const own = machine === machines['25'] ? BACKEND : ADDRESS
      return (await machine.sh(`curl -sf http://${own}:8045/readyz`)).code === 0
    }
    // An agent that has not joined yet listens on its socket only, if it has one.
    const listens = machine === machines['23'] ? 'ss -lx | grep -q edge-23.sock' : 'systemctl is-active drawbridge-edge'
    return (await machine.sh(listens)).code === 0
  }

  test('each command succeeds, and no request of a visitor fails', async () => {
    const commands = commandsOf(PAGE_OF_OPERATIONS, SECTION)
    expect(commands.length).toBeGreaterThan(20)
    const answers = await visitsDuring(machines['23'], [`https://${HOST}/`], async () => {
      for (const { machine, line } of commands)
        await carryOut(machine as '23', line).catch((error: Error) => {
          throw new Error(`On ${machine}: ${line}: ${error.message}`)
        })
    })
    expect(answers.filter((answer) => answer !== '200 0')).toEqual([])
    expect(answers.length).toBeGreaterThan(50)
    const journal = await machines['73'].done('journalctl -u drawbridge-edge -o cat')
    expect(journal).toContain('yet. It will listen there once it has joined.')
  })

  test('the Secondary serves the host, and both services expose others on both edges', async () => {
    const at73 = (host: string) =>
      machines['73'].sh(`curl -s --cacert ${ISSUING_ROOTS} --resolve ${host}:443:${SECONDARY} https://${host}/`)
    await until('73 serves it', async () => (await at73(HOST)).output.includes('a page of 25'), 60_000)
    for (const name of ['23', '25'] as const) {
      const host = `after-${name}.${ZONE}`
      await expectExposed(machines[name], host)
      await until(`73 serves ${host}`, async () => (await at73(host)).output.includes('a page of 25'), 60_000)
    }
    expect(await machines['23'].run('drawbridge', 'diff', '--all')).toMatchObject({ code: 0 })
    expect(await machines['25'].run('drawbridge', 'doctor')).toMatchObject({ code: 0 })
  })

  test('a Secondary that was retired by the page leaves with a purge, and nothing else of the installation changes', async () => {
    const [one, second, third] = [machines['23'], machines['25'], machines['73']]
    for (const { line } of commandsOf(PAGE_OF_OPERATIONS, RETIRE)) {
      const { code, output } = await one.onTerminal(line, [['Retire edge 73?', 'y']])
      expect(code, `${line}: ${output}`).toBe(0)
      expect(output).toContain('apt purge drawbridge')
    }
    for (const machine of [one, second]) {
      const file = '/etc/drawbridge/drawbridge.yaml'
      const { servers, edges, ...config } = parse(await machine.read(file))
      const { '73': _, ...kept } = edges
      const text = stringify({ ...config, servers: { ...servers, secondary: 'none' }, edges: kept })
      // Owner and mode stay as they are.
      await machine.done(`cat >${file} && systemctl restart drawbridge`, { input: text })
      await until('it runs', async () => isUp(machine, 'drawbridge'), 60_000)
    }

    const hosts = [HOST, `after-23.${ZONE}`, `after-25.${ZONE}`]
    const installation = async () => [
      ...(await Promise.all([one, second].map((machine) => machine.done('drawbridge diff --all')))),
      await one.done('cd /etc/nginx && find nginx.conf drawbridge -type f -exec sha256sum {} + | sort'),
      await one.done(hosts.map((host) => `dig +noall +answer ${host} ANY @127.0.0.1`).join(';')),
      await one.done("drawbridge status | awk '{ print $1, $2 }'"),
    ]
    const before = await installation()
    let told = ''
    const addresses = hosts.map((host) => `https://${host}/`)
    const answers = await visitsDuring(one, addresses, async () => {
      told = await third.done('apt-get purge -y drawbridge', { seconds: 200 })
    })
    expect(answers.filter((answer) => answer !== '200 0')).toEqual([])
    expect(told).not.toMatch(/withdraw/)
    expect(await installation()).toEqual(before)

    const left = 'ls -d /etc/drawbridge /var/lib/drawbridge* /etc/nginx/drawbridge /run/drawbridge; id drawbridge; true'
    expect(await third.done(left)).not.toMatch(/^\/|uid=/m)
    expect(await third.done("systemctl list-unit-files 'drawbridge*' --no-legend; true")).toBe('')
    expect(await third.done("systemctl list-units --all 'drawbridge*' --no-legend")).toBe('')
    expect(await third.done('systemctl --failed --no-legend')).toBe('')
    expect(await third.done('nginx -t 2>&1 && systemctl restart nginx && cat /etc/nginx/nginx.conf')).not.toContain(
      'include /etc/nginx/drawbridge',
    )

    for (const name of ['23', '25'] as const) {
      await expectExposed(machines[name], `alone-${name}.${ZONE}`)
      expect(await machines[name].run('drawbridge', 'doctor')).toMatchObject({ code: 0 })
    }
    expect(await one.run('drawbridge', 'diff', '--all')).toMatchObject({ code: 0 })
  })
})

/** The blocks of YAML of a section. */
function yamlOf(section: string): string[] {
  const page = readFileSync(join(checkout(), PAGE_OF_OPERATIONS), 'utf8')
  const text = page.split(/^## /m).find((part) => part.startsWith(`${section}\n`)) ?? ''
  return [...text.matchAll(/^```yaml\n([\s\S]*?)^```$/gm)].map(([, block = '']) => block)
}

/** A configuration with the top members of another one in place of its own. */
const merged = (former: string, changed: string): string => stringify({ ...parse(former), ...parse(changed) })
