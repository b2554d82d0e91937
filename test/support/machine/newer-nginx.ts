import { visitsDuring } from './installation.ts'
import type { Machine } from './machine.ts'

const VERSION = '+newer1'
/** Debian has one version of nginx in a release: the next one is made of it. */
const MAKE = `mkdir -p /srv/newer && cd /srv/newer && for deb in /srv/packages/*.deb; do
  dpkg-deb -R $deb tree && sed -i 's/^Version: .*/&${VERSION}/; s/nginx-common (= [^)]*/&${VERSION}/' tree/DEBIAN/control && dpkg-deb -b tree . && rm -r tree || exit 1
done`

/** Upgrades Debian's nginx. Resolves with what visitors of these addresses got meanwhile. */
export async function upgradeNginx(machine: Machine, addresses: readonly string[]): Promise<string[]> {
  await machine.done(MAKE)
  const install = () => machine.done('cd /srv/newer && apt-get install -y ./*.deb', { seconds: 200 })
  const answers = await visitsDuring(machine, addresses, install)
  const versions = await machine.done("dpkg -s nginx nginx-common | sed -n 's/^Version: //p'")
  if (!versions.split('\n', 2).every((version) => version.endsWith(VERSION))) throw new Error(versions)
  // Of a program that was replaced, it says "(deleted)".
  const program = await machine.done('readlink /proc/$(cat /run/nginx.pid)/exe')
  if (program !== '/usr/sbin/nginx\n') throw new Error(`nginx runs ${program}`)
  return answers
}
