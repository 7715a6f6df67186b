-- name: CreateAuthor :execresult
INSERT INTO authors (name, country) VALUES (?, ?);

-- name: CreateBook :exec
INSERT INTO books (id, author_id, title, price, published, meta) VALUES (?, ?, ?, ?, ?, ?);

-- name: GetAuthor :one
SELECT * FROM authors WHERE id = ? LIMIT 1;

-- name: BooksByCountry :many
SELECT b.title, b.price, a.name FROM books b JOIN authors a ON a.id = b.author_id WHERE a.country = sqlc.arg(country) ORDER BY b.title;

-- name: Totals :many
SELECT a.country, COUNT(*) AS books, CAST(SUM(b.price) AS DOUBLE) AS total, MAX(b.published) AS latest
FROM books b JOIN authors a ON a.id = b.author_id GROUP BY a.country ORDER BY total DESC;

-- name: BooksIn :many
SELECT * FROM books WHERE id IN (sqlc.slice('ids')) ORDER BY id;

-- name: Reprice :execrows
UPDATE books SET price = price * sqlc.arg(factor) WHERE author_id = sqlc.arg(author);

-- name: CountBooks :one
SELECT COUNT(*) FROM books;
