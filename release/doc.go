// Package release says what leaves a site and what comes back to one: the sentences that
// people read before they sign, and the members of the bundles that carry it.
//
// Start with [Describe].
package release
