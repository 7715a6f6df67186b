package encryption

// AesText is what AES_ENCRYPT and AES_DECRYPT compute.
var AesText = crypt
