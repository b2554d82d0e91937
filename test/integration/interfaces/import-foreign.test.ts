import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'better-sqlite3'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { SITE_STYLES } from '../../support/edge/sites/site-styles.ts'
import { command } from '../../support/programs/command.ts'
import { tempFolder } from '../../support/temp-folder.ts'

const temporary = tempFolder()
const folder = temporary.path
const config = join(folder, 'drawbridge.yaml')
const SITE = { backend: '192.168.45.25:3000', http: 80, https: 443, certificateFile: '/a.crt', keyFile: '/a.key' }
const STATIC = 'server { listen 80; server_name files.example.test; location / { root /srv; } }\n'

afterAll(() => temporary[Symbol.dispose]())

beforeAll(() => {
  const nginx = join(folder, 'nginx.conf')
  writeFileSync(
    config,
    `zones:\n  example.test: { primary: 127.0.0.1, publish: { a: [192.168.45.23] } }\nedges:\n  "23": { config: ${nginx}, folder: ${folder}/drawbridge }\n`,
  )
  for (const name of ['available', 'enabled']) mkdirSync(join(folder, name))
  writeFileSync(nginx, `events {}\nhttp { include enabled/*; include ${folder}/drawbridge/*.conf; }\n`)
  const sites = SITE_STYLES.map(
    ({ text }, at) => [`site${at}`, text({ ...SITE, host: `site${at}.example.test` })] as const,
  )
  for (const [name, text] of [...sites, ['files', STATIC] as const]) enable(name, text)
})

function enable(name: string, text: string): void {
  writeFileSync(join(folder, 'available', name), text)
  symlinkSync(join('..', 'available', name), join(folder, 'enabled', name))
}

interface Report {
  readonly hosts: readonly {
    readonly host: string
    readonly adoptable: boolean
    readonly changed: readonly { readonly directive: string; readonly sentence: string }[]
    readonly lost: readonly unknown[]
    readonly refused: readonly unknown[]
  }[]
  readonly unreadable: readonly { file: string }[]
}

const report = async (...args: string[]): Promise<Report> => {
  const { code, stdout, stderr } = await command(['import', ...args, '-o', 'json', '--config', config])
  expect(stderr).toBe('')
  expect(code).toBe(0)
  return JSON.parse(stdout) as Report
}

describe('import nginx', () => {
  test('reports every host of the edge', async () => {
    const { hosts } = await report('nginx')
    expect(hosts.filter(({ adoptable }) => adoptable)).toHaveLength(SITE_STYLES.length)
    expect(hosts.filter(({ adoptable, lost }) => adoptable && lost.length > 0)).toHaveLength(
      SITE_STYLES.filter(({ losesSomething }) => losesSomething).length,
    )
    expect(hosts.find(({ host }) => host === 'files.example.test')).toMatchObject({ adoptable: false })
  })

  test('adopts nothing beside a file that it cannot read, and names that file', async () => {
    enable('broken', 'server {')
    const { hosts, unreadable } = await report('nginx')
    for (const name of ['enabled', 'available']) rmSync(join(folder, name, 'broken'))
    expect(hosts.filter(({ adoptable }) => adoptable)).toEqual([])
    expect(unreadable.map(({ file }) => file)).toEqual([join(folder, 'enabled/broken')])
  })

  test('reads a folder, and a site and its link once', async () => {
    const { hosts } = await report('nginx', folder)
    expect(hosts).toHaveLength(SITE_STYLES.length + 1)
  })

  test('writes a file that apply -f takes', async () => {
    const { stdout } = await command(['import', 'nginx', '-o', 'yaml', '--config', config])
    const file = join(folder, 'exposures.yaml')
    writeFileSync(file, stdout)
    const { readExposures } = await import('../../../src/config/exposures-file.ts')
    const [first] = readExposures(file)
    expect(first).toMatchObject({ host: 'site0.example.test', server: '25', port: 3000, health: '/', tls: false })
  })

  test('says for people what is lost, where, and that nothing was changed', async () => {
    const { stdout } = await command(['import', 'nginx', '--config', config])
    expect(stdout).toContain('files.example.test')
    expect(stdout).toMatch(/^yes +site0\.example\.test .*\n +changed: proxy_pass, /m)
    expect(stdout).toMatch(/^with loss +site2\.example\.test .*\n +lost: /m)
    expect(stdout).toMatch(/11 hosts: 10 can be adopted, 4 of them with a loss\. Nothing was changed\./)
    expect(stdout).toMatch(/^ +drawbridge adopt site0\.example\.test$/m)
    expect(stdout).toMatch(/^ +drawbridge adopt site2\.example\.test --accept-loss$/m)
    expect(stdout).not.toContain('drawbridge adopt files.example.test')
    expect(stdout).toContain('Adopting is off: set adopt.enabled to true')
    const other = await command(['import', 'nginx', folder, '--config', config])
    expect(other.stdout).not.toContain('drawbridge adopt')
  })

  test('refuses a folder that is none', async () => {
    const { code, stderr } = await command(['import', 'nginx', '/nowhere', '--config', config])
    expect(code).not.toBe(0)
    expect(stderr).toContain('/nowhere is not a folder')
  })
})

describe('import npm', () => {
  const file = join(folder, 'database.sqlite')
  beforeAll(() => {
    const database = new Database(file)
    database.exec(`create table proxy_host (id integer primary key, is_deleted int default 0, domain_names text, forward_host text,
      forward_port int, access_list_id int default 0, certificate_id int default 0, ssl_forced int default 0, caching_enabled int default 0,
      block_exploits int default 0, advanced_config text default '', forward_scheme text default 'http', enabled int default 1,
      locations text, hsts_enabled int default 0);
      create table redirection_host (id integer primary key, is_deleted int default 0, domain_names text, enabled int default 1);
      insert into proxy_host (domain_names, forward_host, forward_port) values ('["a.example.test","b.example.test"]', '192.168.45.25', 3000);
      insert into proxy_host (domain_names, forward_host, forward_port, certificate_id, ssl_forced, hsts_enabled)
        values ('["c.example.test"]', '192.168.45.253', 8080, 7, 1, 1);
      insert into proxy_host (domain_names, forward_host, forward_port, access_list_id) values ('["d.example.test"]', '192.168.45.25', 1, 3);
      insert into proxy_host (domain_names, forward_host, forward_port, advanced_config) values ('["e.example.test"]', 'app', 1, 'deny all;');
      insert into proxy_host (domain_names, forward_host, forward_port, is_deleted) values ('["gone.example.test"]', '192.168.45.25', 1, 1);
      insert into redirection_host (domain_names) values ('["f.example.test"]');`)
    database.close()
  })

  test('reports every name of the database', async () => {
    const { hosts } = await report('npm', file)
    const seen = hosts.map(({ host, adoptable, lost, refused }) => [host, adoptable, lost.length, refused.length])
    expect(hosts[0]?.changed.map(({ directive }) => directive)).toEqual(['proxy_host', 'allow_websocket_upgrade'])
    // No rehearsal is made of a database, and every host says so.
    for (const { adoptable, changed } of hosts.filter((each) => each.adoptable))
      expect([adoptable, changed[0]?.sentence]).toEqual([
        true,
        expect.stringContaining('Its answers are not compared:'),
      ])
    expect(seen).toEqual([
      ['a.example.test', true, 0, 0],
      ['b.example.test', true, 0, 0],
      ['c.example.test', true, 1, 0],
      ['d.example.test', false, 0, 1],
      ['e.example.test', false, 0, 2],
      ['f.example.test', false, 0, 1],
    ])
    expect(JSON.stringify(hosts)).not.toContain('deny all')
  })

  test('refuses what is no such database', async () => {
    const { code, stderr } = await command(['import', 'npm', config, '--config', config])
    expect(code).not.toBe(0)
    expect(stderr).toContain('is not a database of Nginx Proxy Manager')
  })
})
