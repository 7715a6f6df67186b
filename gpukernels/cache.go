package gpukernels

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"sync"
	"time"
)

// CacheVariable is the environment variable that names the folder of compiled kernels, or says "off".
const CacheVariable = "RADISH_KERNEL_CACHE"

const (
	cacheLimit  = 256 << 20 // bytes of images on disk; the ones that were used longest ago go first
	imageSuffix = ".image"
)

// CacheFolder is where compiled kernels are kept, "" if nowhere.
func CacheFolder() string {
	switch dir := os.Getenv(CacheVariable); dir {
	case "off":
		return ""
	case "":
		base, err := os.UserCacheDir()
		if err != nil {
			return ""
		}
		return filepath.Join(base, "radish", "kernels")
	default:
		return dir
	}
}

// imageKey names an image by all that it depends on.
func imageKey(compiler, source string, options []string) string {
	h := sha256.New()
	fmt.Fprintf(h, "radish image, ABI %d\n%s\n%s\n%q\n", abiVersion, compiler, headersHash(), options)
	h.Write([]byte(source))
	return hex.EncodeToString(h.Sum(nil))
}

// diskCache keeps images in files: a checksum of 32 bytes, then the image. Whatever goes wrong with it costs a compilation, never a query.
type diskCache struct {
	dir   string // "": none
	limit int64

	mutex sync.Mutex
	size  int64 // bytes in the folder as far as known; -1: not known yet
}

func newDiskCache(dir string, limit int64) *diskCache {
	return &diskCache{dir: dir, limit: limit, size: -1}
}

func (c *diskCache) file(key string) string { return filepath.Join(c.dir, key+imageSuffix) }

// has says whether there is an image.
func (c *diskCache) has(key string) bool {
	if c.dir == "" {
		return false
	}
	_, err := os.Stat(c.file(key))
	return err == nil
}

// get returns an image, nil if there is none or it is damaged.
func (c *diskCache) get(key string) []byte {
	if c.dir == "" {
		return nil
	}
	data, err := os.ReadFile(c.file(key))
	if err != nil || len(data) < sha256.Size {
		return nil
	}
	sum := sha256.Sum256(data[sha256.Size:])
	if !bytes.Equal(sum[:], data[:sha256.Size]) {
		return nil
	}
	now := time.Now()
	_ = os.Chtimes(c.file(key), now, now) // it was used
	return data[sha256.Size:]
}

// put keeps an image.
func (c *diskCache) put(key string, image []byte) {
	if c.dir == "" || os.MkdirAll(c.dir, 0o700) != nil {
		return
	}
	sum := sha256.Sum256(image)
	if WriteWhole(c.file(key), append(sum[:], image...)) != nil {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if c.size >= 0 {
		c.size += int64(sha256.Size + len(image))
	}
	if c.size < 0 || c.size > c.limit {
		c.trim()
	}
}

// remove deletes an image.
func (c *diskCache) remove(key string) {
	if c.dir == "" {
		return
	}
	c.mutex.Lock()
	defer c.mutex.Unlock()
	if os.Remove(c.file(key)) == nil {
		c.size = -1
	}
}

// trim measures the folder and, if it holds too much, removes the images that were used longest ago until three quarters of the limit are left.
func (c *diskCache) trim() {
	entries, err := os.ReadDir(c.dir)
	if err != nil {
		return
	}
	type image struct {
		name string
		size int64
		used time.Time
	}
	var images []image
	c.size = 0
	for _, e := range entries {
		if !strings.HasSuffix(e.Name(), imageSuffix) {
			continue
		}
		if info, err := e.Info(); err == nil {
			images = append(images, image{e.Name(), info.Size(), info.ModTime()})
			c.size += info.Size()
		}
	}
	if c.size <= c.limit {
		return
	}
	sort.Slice(images, func(i, j int) bool { return images[i].used.Before(images[j].used) })
	for _, i := range images {
		if c.size <= c.limit/4*3 {
			return
		}
		if os.Remove(filepath.Join(c.dir, i.name)) == nil {
			c.size -= i.size
		}
	}
}
