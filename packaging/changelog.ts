/** The newest entry of Debian's changelog: what changed is in CHANGELOG.md beside it. */
export function debianChangelog(version: string, maintainer: string, epoch: number): string {
  return `drawbridge (${version}) unstable; urgency=medium

  * Changes are told in CHANGELOG.md of this folder.

 -- ${maintainer}  ${rfc5322(epoch)}
`
}

/** Seconds since 1970 as changelogs write a time, in UTC. */
const rfc5322 = (epoch: number) => new Date(epoch * 1000).toUTCString().replace('GMT', '+0000')
