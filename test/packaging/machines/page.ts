import { expect, test } from 'vitest'
import { parse, stringify } from 'yaml'
import { PAGE, ready, visit } from '../../support/machine/installation.ts'
import type { Machine } from '../../support/machine/machine.ts'
import { POSTGRES_URL, startPostgres, trustPostgres } from '../../support/machine/postgres.ts'
import { ADDRESS, ZONE } from '../../support/machine/surroundings.ts'
import { ON_ONE_MACHINE, PAGE_OF_OPERATIONS } from '../../support/machine/typed-blocks.ts'
import { blocksOf } from '../../support/network/page-commands.ts'
import { until } from '../../support/until.ts'

type Heading = (typeof ON_ONE_MACHINE)[number]

interface Written {
  zones: Record<string, Record<string, unknown>>
  storeFile?: string
}

const FILE = '/etc/drawbridge/drawbridge.yaml'
const ZONES = '/etc/bind/named.conf.local'
const HOST = `first.${ZONE}`
const EDITED = `edited.${ZONE}`
/** The address of the machine at which the zone has its primary server afterwards. */
const MOVED = '192.168.45.9'
const STATE = '/var/lib/drawbridge'

/**
 * The health path of a host whose entry somebody edits in the middle of its apply: healthy until the edge has the entry, then it is edited
 * once. 25 is this machine, too.
 */
const EDITING = `#!/bin/sh
file=$(grep -rl '^${EDITED} ' /etc/nginx/drawbridge/current/ | head -n 1)
if [ -z "$file" ]; then printf 'HTTP/1.0 200 OK\\r\\n\\r\\n'; exit; fi
[ -e /srv/edited ] || { sed -i '/^${EDITED} /s/$/ # somebody was here/' "$file"; echo "$file" >/srv/edited; }
printf 'HTTP/1.0 500 Broken\\r\\n\\r\\n'
`

/** The blocks of docs/operations.md for one machine, in its order, as somebody types them. `expectWhole` looks at the installation after each. */
export function typePage(machineOf: () => Machine, expectWhole: () => Promise<void>): void {
  let machine: Machine

  /** Types a block, with these words in place of the page's. Resolves with what each line printed. */
  async function type(commands: readonly string[], words: Readonly<Record<string, string>> = {}): Promise<string[]> {
    const printed: string[] = []
    for (const command of commands) {
      const line = command.replaceAll(/\b(?:FILE|HOST|PLAN)\b/g, (word) => ({ FILE, ...words })[word] ?? word)
      printed.push(await machine.done(line))
      // A person waits until the service answers before typing the next line.
      if (line === 'systemctl start drawbridge') await ready(machine)
    }
    return printed
  }

  /** What the person at the keyboard does when the page says `editor`. */
  async function willEdit(change: (config: Written) => void): Promise<void> {
    const config: Written = parse(await machine.read(FILE))
    change(config)
    await machine.write('/root/edited.yaml', stringify(config))
    await machine.write('/usr/local/bin/editor', '#!/bin/sh\ncat /root/edited.yaml >"$1"\n', '0755')
  }

  const isSame = () => expect(machine.run('drawbridge', 'diff', '--all')).resolves.toMatchObject({ code: 0 })

  /** What has happened before somebody opens the page there, and what is true afterwards. */
  const carryOut: Record<Heading, (...blocks: string[][]) => Promise<void>> = {
    'Run blocked': async (lines) => {
      await machine.write('/srv/backend/cgi-bin/editing', EDITING, '0755')
      const up = `drawbridge up ${EDITED} --server 25 --port 3000 --health /cgi-bin/editing --no-tls --yes`
      expect((await machine.sh(up)).code).not.toBe(0)
      const [plan = ''] = /\S+$/m.exec(/.*\bblocked\b.*/.exec(await machine.done('drawbridge plans'))?.[0] ?? '') ?? []
      const [list = '', show = '', ...mend] = lines
      expect((await type([list, show], { PLAN: plan })).join('')).toContain('Left: proxy')
      // Not while the reason is there.
      await expect(type(mend, { PLAN: plan })).rejects.toThrow('changed outside Drawbridge')
      await machine.done('sed -i "s/ # somebody was here//" "$(cat /srv/edited)"')
      expect((await type(mend, { PLAN: plan })).join('')).toContain(`The rollback of ${EDITED} is finished`)
    },

    'Zone moved': async (lines) => {
      // The former address does not answer any more, and the new server was filled from an old copy: a record is missing there.
      await machine.done(
        `sed -i 's/^options {/&\\n  listen-on { !${ADDRESS}; any; };/' /etc/bind/named.conf.options && rndc reconfig && ` +
          `grep '^key ' ${ZONES} >/root/zone.key && nsupdate -k /root/zone.key`,
        { input: `server 127.0.0.1\nzone ${ZONE}\nupdate delete ${HOST} A\nsend\n` },
      )
      expect((await machine.sh(`dig +time=1 +tries=1 @${ADDRESS} ${ZONE} SOA`)).code).not.toBe(0)
      await willEdit(({ zones }) => Object.assign(zones[ZONE] ?? {}, { primary: MOVED, nameServers: [MOVED] }))
      const repair = lines.pop() ?? ''
      const compare = lines.pop() ?? ''
      await type(lines)
      await expect(type([compare])).rejects.toThrow(HOST)
      await type([repair], { HOST })
      await isSame()
    },

    'Replace the key of a zone': async (first, second) => {
      const former = await machine.read(ZONES)
      const [, key = '', secret = ''] =
        /^(key.*?"([^"]+)";\n\};\n)$/s.exec(await machine.done('tsig-keygen next.')) ?? []
      await machine.write(ZONES, `${key}${former.replace(/grant drawbridge\. ([^;]+;)/, '$& grant next. $1')}`)
      await machine.done('rndc reconfig')
      await machine.write('/etc/drawbridge/next.key', `${secret}\n`, '0600')
      await machine.done('chown drawbridge: /etc/drawbridge/next.key')
      const next = { name: 'next.', algorithm: 'hmac-sha256', secretFile: 'next.key' }
      await willEdit(({ zones }) => Object.assign(zones[ZONE] ?? {}, { nextTsig: next }))
      await type(first ?? [])
      const both = await machine.read(ZONES)
      await machine.write(ZONES, both.replace(/^key "drawbridge\." .*\n/m, '').replace(/grant drawbridge\. [^;]+;/, ''))
      await machine.done('rndc reconfig')
      await willEdit(({ zones }) => {
        const { nextTsig, ...others } = zones[ZONE] ?? {}
        zones[ZONE] = { ...others, tsig: nextTsig }
      })
      await type(second ?? [])
    },

    Backup: async (lines) => {
      await machine.write('/root/backup.pass', 'correct horse battery staple\n', '0600')
      expect((await type(lines)).join('')).toContain('It is encrypted.')
    },

    Restore: async (lines) => {
      // As on a new machine: nothing is left of what the edge knew, either.
      const lost = `${STATE} ${STATE}-edge /etc/nginx/drawbridge`
      await machine.done(`systemctl stop drawbridge drawbridge-edge; rm -rf ${lost}`)
      await machine.done(`install -d -m 0700 -o drawbridge -g drawbridge ${STATE}`)
      await machine.done('systemctl start drawbridge-edge')
      await type(lines)
      expect(await visit(machine, HOST)).toBe(PAGE)
    },

    Rebuild: async (lines) => {
      const [stop = '', ...others] = lines
      await type([stop])
      await machine.done(`rm -rf ${STATE}/*`)
      await type(others)
    },

    'From SQLite to PostgreSQL': async (lines) => {
      await startPostgres(machine)
      await trustPostgres(machine, machine)
      await machine.done('install -d -m 0700 -o drawbridge -g drawbridge /etc/drawbridge/secrets')
      await machine.write('/etc/drawbridge/secrets/store', `${POSTGRES_URL}\n`, '0600')
      await machine.done('chown drawbridge: /etc/drawbridge/secrets/store')
      await willEdit((config) => {
        config.storeFile = 'secrets/store'
      })
      await type(lines)
      // Nothing of the former store is in use.
      await machine.done(`rm ${STATE}/drawbridge.db* && systemctl restart drawbridge`)
      await ready(machine)
    },
  }

  test.each(ON_ONE_MACHINE)('docs/operations.md, "%s", can be typed', async (heading) => {
    machine = machineOf()
    const blocks = blocksOf(PAGE_OF_OPERATIONS).filter((block) => block.heading === heading)
    expect(blocks).toHaveLength(carryOut[heading].length)
    await carryOut[heading](...blocks.map(({ commands }) => commands.map(({ line }) => line)))
    await expectWhole()
    await until('there is no difference', async () => (await machine.run('drawbridge', 'diff', '--all')).code === 0)
  })
}
