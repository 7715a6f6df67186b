CREATE TABLE authors (
  id      BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY,
  name    VARCHAR(60) NOT NULL,
  country VARCHAR(20)
);

CREATE TABLE books (
  id        BIGINT NOT NULL PRIMARY KEY,
  author_id BIGINT NOT NULL,
  title     VARCHAR(100) NOT NULL,
  price     DECIMAL(8,2) NOT NULL,
  published DATE,
  meta      JSON
);
