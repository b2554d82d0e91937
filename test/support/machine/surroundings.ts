import type { Machine } from './machine.ts'

/** What stands around Drawbridge on a machine of its own: an address, Debian's BIND with a zone, a certificate authority, a backend. */
export const ZONE = 'example.test'
export const ADDRESS = '192.168.45.23'
export const BACKEND = '192.168.45.25'
const AUTHORITY = '192.168.45.9'
export const DIRECTORY = `https://${AUTHORITY}:14000/dir`
/** The certificate of the authority's own API, and every root that issued so far. */
export const AUTHORITY_CA = '/srv/authority/api.pem'
export const ISSUING_ROOTS = '/srv/authority/roots.pem'

/** The cable and the other machines of the network. An address that must come late or go away is a matter of this unit. */
const LAN = `[Unit]
Description=The network of this machine
DefaultDependencies=no
After=local-fs.target
Before=network.target network-online.target
[Service]
Type=oneshot
RemainAfterExit=yes
ExecStart=-ip link add lan0 type veth peer name cable0
ExecStart=ip link set cable0 up
ExecStart=ip link set lan0 up
ExecStart=-ip addr add ${ADDRESS}/24 dev lan0
ExecStart=-ip addr add ${BACKEND}/32 dev lan0
ExecStart=-ip addr add ${AUTHORITY}/32 dev lan0
[Install]
WantedBy=multi-user.target network.target network-online.target
`

const BACKEND_UNIT = `[Unit]
After=lan.service
[Service]
ExecStart=busybox httpd -f -p ${BACKEND}:3000 -h /srv/backend
Restart=always
[Install]
WantedBy=multi-user.target
`

/** It makes a new root at each start. */
const AUTHORITY_UNIT = `[Unit]
After=lan.service named.service
[Service]
Environment=PEBBLE_VA_NOSLEEP=1
ExecStart=pebble -config /srv/authority/pebble.json -dnsserver 127.0.0.1:53 -strict=true
ExecStartPost=sh -c 'curl -s --cacert ${AUTHORITY_CA} --retry 100 --retry-delay 1 --retry-connrefused https://${AUTHORITY}:15000/roots/0 >>${ISSUING_ROOTS}'
Restart=always
[Install]
WantedBy=multi-user.target
`

const AUTHORITY_CONFIG = JSON.stringify({
  pebble: {
    listenAddress: `${AUTHORITY}:14000`,
    managementListenAddress: `${AUTHORITY}:15000`,
    certificate: AUTHORITY_CA,
    privateKey: '/srv/authority/api.key',
    httpPort: 80,
    tlsPort: 443,
    ocspResponderURL: '',
    externalAccountBindingRequired: false,
    certificateValidityPeriod: 7_776_000,
  },
})

const ZONE_FILE = `$TTL 60
@ IN SOA ns1 hostmaster 1 3600 600 86400 5
@ IN NS ns1
ns1 IN A ${ADDRESS}
`

/** An administrator's zone as the documents want it, and no key for Drawbridge yet. */
const ZONE_CONFIG = `zone "${ZONE}" { type master; file "/var/lib/bind/${ZONE}.zone"; };
`

const CERTIFICATE = [
  'openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 3650 -subj /CN=authority',
  `-addext subjectAltName=IP:${AUTHORITY} -keyout /srv/authority/api.key -out ${AUTHORITY_CA}`,
].join(' ')

export async function surround(machine: Machine): Promise<void> {
  await machine.write('/etc/systemd/system/lan.service', LAN)
  await machine.write('/etc/systemd/system/backend.service', BACKEND_UNIT)
  await machine.write('/etc/systemd/system/authority.service', AUTHORITY_UNIT)
  await machine.write('/srv/backend/index.html', 'a page of 25\n')
  await machine.write('/srv/backend/healthz', 'ok\n')
  await machine.write('/srv/authority/pebble.json', AUTHORITY_CONFIG)
  await machine.done(CERTIFICATE)
  await machine.write(`/var/lib/bind/${ZONE}.zone`, ZONE_FILE)
  await machine.done(`chown -R bind: /var/lib/bind`)
  await machine.write('/etc/bind/named.conf.local', ZONE_CONFIG)
  await machine.done('systemctl enable --now lan backend && rndc reconfig && systemctl enable --now authority')
}
