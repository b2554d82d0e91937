import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { run } from './files.ts'

const SUITE = 'bookworm'
const SOURCES = '/etc/apt/sources.list.d'
const CONTAINER = resolve(import.meta.dirname, 'container.sh')

/** What a container of Drawbridge has of Debian besides its smallest root. */
const INCLUDED = ['ca-certificates', 'nginx', 'passwd']
/** Nobody reads manuals in a container. The licences stay. */
const EXCLUDED = ['/usr/share/man/*', '/usr/share/locale/*', '/usr/share/doc/*']
const KEPT = ['/usr/share/doc/*/copyright', '/usr/share/doc/drawbridge/*']

/** Where a container updates itself from, whatever mirror it was made with. */
const DEBIAN = `Types: deb
URIs: http://deb.debian.org/debian
Suites: ${SUITE} ${SUITE}-updates
Components: main
Signed-By: /usr/share/keyrings/debian-archive-keyring.gpg
`

/**
 * Writes the files of a container as a tarball: Debian's smallest root, nginx and the package. The same package, the same package
 * sources and the same time give the same bytes.
 */
export function buildRootfs(deb: string, tarball: string, epoch: number): void {
  const folder = mkdtempSync(join(tmpdir(), 'drawbridge-rootfs-'))
  try {
    const sources = join(folder, 'build.sources')
    writeFileSync(sources, machineSources())
    writeFileSync(join(folder, 'debian.sources'), DEBIAN)
    rmSync(tarball, { force: true })
    const options = [
      ...['--variant=minbase', '--format=tar', '--quiet', `--include=${INCLUDED.join(',')}`],
      ...EXCLUDED.map((path) => `--dpkgopt=path-exclude=${path}`),
      ...KEPT.map((path) => `--dpkgopt=path-include=${path}`),
      ...hooks(deb, folder).map((hook) => `--customize-hook=${hook}`),
    ]
    run('mmdebstrap', [...options, SUITE, tarball, sources], { SOURCE_DATE_EPOCH: String(epoch) })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** `$1` is the root. nginx reads our entries from the start, and has no default site whose answers could be taken for ours. */
const hooks = (deb: string, folder: string): readonly string[] => [
  `cp '${deb}' "$1/tmp/drawbridge.deb"`,
  'chroot "$1" dpkg --install /tmp/drawbridge.deb',
  'rm "$1/tmp/drawbridge.deb" "$1/etc/nginx/sites-enabled/default"',
  `install -m 0755 '${CONTAINER}' "$1/usr/sbin/drawbridge-container"`,
  'install -d "$1/etc/nginx/drawbridge"',
  `sed -i 's|include /etc/nginx/sites-enabled/\\*;|&\\n\\tinclude /etc/nginx/drawbridge/*.conf;|; s|access_log .*;|access_log off;|' "$1/etc/nginx/nginx.conf"`,
  'rm -f "$1"/etc/apt/sources.list "$1"/etc/apt/sources.list.d/*',
  `install -m 0644 '${folder}/debian.sources' "$1/etc/apt/sources.list.d/debian.sources"`,
  'rm -rf "$1"/var/log/nginx/* "$1"/var/cache/ldconfig/aux-cache "$1"/etc/machine-id',
  ': > "$1/etc/hostname"; rm -f "$1/etc/resolv.conf"; : > "$1/etc/resolv.conf"',
]

/** The package sources of this machine, for the release of the image. */
export function machineSources(suite = SUITE): string {
  const files = existsSync(SOURCES) ? readdirSync(SOURCES).filter((name) => name.endsWith('.sources')) : []
  const text = files.map((name) => readFileSync(join(SOURCES, name), 'utf8')).join('\n')
  const [, own] = /^VERSION_CODENAME=(\w+)$/m.exec(readFileSync('/etc/os-release', 'utf8')) ?? []
  if (text === '' || own === undefined)
    throw new Error(`${SOURCES} has no package sources of Debian to make a root with.`)
  return text.replaceAll(own, suite)
}
